import type { Config } from '../../config.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { type CompletionCandidates, completeWords } from '../completion/complete-words.ts';
import { findLiveNames } from '../completion/find-live-names.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { commands } from './index.ts';

/** A person who presses Tab waits for this and for the start of the program, together less than 300 ms. */
const lookUpMs = 200;

export const complete = defineCommand({
  name: '__complete',
  usage: 'croft __complete -- WORD …',
  examples: ['croft __complete -- workspaces sh'],
  options: {},
  /** Prints nothing rather than an error: the person is in the middle of a line. */
  async run({ positionals }, terminal) {
    const stop = AbortSignal.any([terminal.stop, AbortSignal.timeout(lookUpMs)]);
    const config = () => toQuickConfig(terminal.config());
    const found = await find(positionals, { ...terminal, stop, config }).catch(() => []);
    terminal.stdout.write(found.map((one) => `${one}\n`).join(''));
    return exitCodes.done;
  },
});

/** A password manager that would ask for something is not waited for. */
function toQuickConfig(config: Config): Config {
  return { ...config, client: { ...config.client, keyCommandMs: 150 } };
}

async function find(words: readonly string[], terminal: CommandContext): Promise<string[]> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? ''];
  const found = await inTime(findAll(before, current, terminal), terminal.stop);
  return found.filter((one) => one.startsWith(current) || one === ':files').filter((one) => !/[\n\r]/.test(one));
}

async function findAll([name, ...before]: readonly string[], current: string, terminal: CommandContext) {
  if (name === undefined) return [...Object.keys(commands), 'help'];
  if (!Object.hasOwn(commands, name)) return [];
  const candidates = completeWords((await commands[name]?.load()) as never, before, current);
  return toTexts(candidates, current, terminal);
}

async function toTexts(
  candidates: CompletionCandidates,
  current: string,
  terminal: CommandContext,
): Promise<readonly string[]> {
  if (candidates.kind === 'files') return [':files'];
  if (candidates.kind === 'words') return candidates.words;
  const names = await findLiveNames(candidates, current, terminal);
  // A command that takes a location takes a path of this machine too.
  return candidates.of === 'location' && names.every((one) => !one.startsWith(current)) ? [':files'] : names;
}

function inTime<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) =>
    stop.addEventListener('abort', () => reject(stop.reason), { once: true }),
  );
  return Promise.race([work, late]);
}
