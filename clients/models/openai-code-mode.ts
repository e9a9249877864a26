import { openaiResponses, streamOf } from './openai-responses.ts';
import { type Dialect, type Json, splitAfterTurns, type Turn } from './scripted-model.ts';

/**
 * The Responses API for models whose only tool is `exec`: they call other tools from JavaScript, and see what their script
 * prints. Ours prints every part of a result.
 */
export const openaiCodeMode: Dialect = {
  readConversation(path, body) {
    const conversation = openaiResponses.readConversation(path, body);
    const outputs = (body.input ?? []).filter(({ type }: Json) => type === 'custom_tool_call_output');
    const found = JSON.stringify(outputs).matchAll(/\bmcp__croft__\w+/g);
    return (
      conversation && {
        tools: [...new Set([...found].map(([name]) => name))],
        canSearch: true,
        added: splitAfterTurns(body.input, ({ type, call_id }) => type === 'custom_tool_call' && call_id !== 'search'),
      }
    );
  },
  writeTurn(turn, path, body) {
    if ('say' in turn) return openaiResponses.writeTurn(turn, path, body);
    const call_id = 'search' in turn ? 'search' : turn.id;
    return streamOf({ type: 'custom_tool_call', id: `ctc_${call_id}`, call_id, name: 'exec', input: scriptOf(turn) });
  },
};

function scriptOf(turn: Exclude<Turn, { say: string }>): string {
  if ('search' in turn)
    return `text(ALL_TOOLS.map(({ name }) => name).filter((name) => name.includes('croft')).join(' '))`;
  return `const result = await tools.${turn.tool}(${JSON.stringify(turn.input)});
for (const part of result.content) part.type === 'image' ? image(part) : text(part.text);`;
}
