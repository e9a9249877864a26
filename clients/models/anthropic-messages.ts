import { type Dialect, events, type Json, json, splitAfterTurns, type Turn } from './scripted-model.ts';

/** The Messages API of Anthropic. */
export const anthropicMessages: Dialect = {
  readConversation(path, { tools = [], messages = [] }) {
    if (!/^\/v1\/messages(\?|$)/.test(path)) return undefined;
    const found = [...JSON.stringify(messages).matchAll(/"tool_reference","tool_name":"(\w+)"/g)];
    return {
      tools: [...tools.map((tool: Json) => tool.name), ...found.map(([, name]) => name ?? '')],
      canSearch: tools.some((tool: Json) => tool.name === 'ToolSearch'),
      added: splitAfterTurns(messages, isCall),
    };
  },
  writeTurn(turn, _path, body) {
    const message = messageOf(turn, body.model);
    return body.stream ? events(streamOf(message)) : json(message);
  },
  /** Token counts: two characters each, which is few for a model and so the worst case for a long result. */
  answerOther(path, body) {
    return path.includes('count_tokens') ? { input_tokens: Math.ceil(JSON.stringify(body.messages).length / 2) } : {};
  },
};

function isCall({ role, content }: Json): boolean {
  return role === 'assistant' && Array.isArray(content) && content.some(({ id }: Json) => id?.startsWith('toolu_call'));
}

function blockOf(turn: Turn): Json {
  if ('say' in turn) return { type: 'text', text: turn.say };
  const called =
    'search' in turn
      ? { id: 'toolu_search', name: 'ToolSearch', input: { query: turn.search, max_results: 100 } }
      : { id: `toolu_${turn.id}`, name: turn.tool, input: turn.input };
  return { type: 'tool_use', ...called };
}

function messageOf(turn: Turn, model: string): Json {
  const block = blockOf(turn);
  return {
    // Claude Code joins messages that have the same id.
    ...{ id: `msg_${block.id ?? 'last'}`, type: 'message', role: 'assistant', model, content: [block] },
    ...{ stop_reason: 'say' in turn ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function streamOf(message: Json): Json[] {
  const [block] = message.content;
  const [empty, delta] =
    block.type === 'text'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
        ];
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ];
}
