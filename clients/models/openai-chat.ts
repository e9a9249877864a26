import { type Dialect, type Json, json, splitAfterTurns, type Turn } from './scripted-model.ts';

/** Chat completions of OpenAI, which many servers of models offer. */
export const openaiChat: Dialect = {
  readConversation(path, { tools = [], messages = [] }) {
    if (!path.endsWith('/chat/completions')) return undefined;
    return {
      tools: tools.map((tool: Json) => tool.function.name),
      added: splitAfterTurns(messages, ({ role }) => role === 'assistant'),
    };
  },
  writeTurn(turn, _path, body) {
    const whole = { id: 'chat_1', created: 1, model: body.model, usage };
    const message = messageOf(turn);
    const finish_reason = 'tool' in turn ? 'tool_calls' : 'stop';
    if (!body.stream)
      return json({ ...whole, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }] });
    const chunk = { ...whole, object: 'chat.completion.chunk' };
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
    ];
    const lines = [...chunks.map((one) => JSON.stringify(one)), '[DONE]'];
    return { type: 'text/event-stream', body: lines.map((line) => `data: ${line}\n\n`).join('') };
  },
};

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function messageOf(turn: Turn): Json {
  if (!('tool' in turn)) return { role: 'assistant', content: 'say' in turn ? turn.say : '' };
  const called = { name: turn.tool, arguments: JSON.stringify(turn.input) };
  return {
    ...{ role: 'assistant', content: null },
    tool_calls: [{ index: 0, id: turn.id, type: 'function', function: called }],
  };
}
