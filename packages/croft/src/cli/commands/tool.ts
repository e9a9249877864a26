import { AppError } from '@croft/protocol';
import { createTrustingTracker } from '../../core/content/read-tracker.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand } from '../command.ts';
import { openApp, workspaceOptions } from '../workspace-options.ts';

export const tool = defineCommand({
  name: 'tool',
  usage: "croft tool NAME ['{json}'] [--workspace DIR | --workspaces SPEC] [--readonly] [--network MODE] [--json] …",
  summary: 'make one tool call: its result on standard output, or its error on standard error and exit code 1',
  options: {
    ...workspaceOptions,
    json: { type: 'boolean', summary: 'print the structured result or error instead of text' },
  },
  async run({ values, positionals }, terminal) {
    const { stdout, stderr, stop } = terminal;
    const [name, json = '{}', ...rest] = positionals;
    if (name === undefined || rest.length > 0) throw new UsageError(`usage: ${tool.usage}`);
    const input = parseInput(json);
    await using app = openApp(values, terminal);
    // A person who types an edit has seen the file; there is no earlier call to have read it in.
    const session = app.newSession('tool', createTrustingTracker());
    try {
      const { text, structured } = await app.toolbox.call(name, input, { session, signal: stop });
      stdout.write(values.json ? `${JSON.stringify(structured)}\n` : endLine(text));
      return 0;
    } catch (thrown) {
      const error = AppError.from(thrown);
      stderr.write(values.json ? `${JSON.stringify({ error })}\n` : `${error.code}: ${error.text}\n`);
      return 1;
    } finally {
      await session.close();
    }
  },
});

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError(`the input is not JSON: ${json.slice(0, 80)}`);
  }
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
