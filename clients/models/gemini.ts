import { type Dialect, events, type Json, json, splitAfterTurns, type Turn } from './scripted-model.ts';

/** The Gemini API: one path for whole answers and one for streams. */
export const gemini: Dialect = {
  readConversation(path, { tools = [], contents = [] }) {
    if (!/:(streamG|g)enerateContent/.test(path)) return undefined;
    return {
      tools: tools.flatMap((tool: Json) => (tool.functionDeclarations ?? []).map(({ name }: Json) => name)),
      added: splitAfterTurns(contents, ({ role }) => role === 'model'),
    };
  },
  writeTurn(turn, path) {
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [partOf(turn)] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    return path.includes(':stream') ? events([answer]) : json(answer);
  },
  answerOther(path) {
    return path.includes(':countTokens') ? { totalTokens: 1 } : {};
  },
};

/** Gemini CLI has put `wait_for_previous` into the schema of every tool, so a model may write it. */
function partOf(turn: Turn): Json {
  if (!('tool' in turn)) return { text: 'say' in turn ? turn.say : '' };
  return { functionCall: { id: turn.id, name: turn.tool, args: { ...turn.input, wait_for_previous: true } } };
}
