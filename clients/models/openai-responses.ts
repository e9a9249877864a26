import { type Dialect, events, type Json, type Reply, splitAfterTurns, type Turn } from './scripted-model.ts';

/** The Responses API of OpenAI, as a stream. */
export const openaiResponses: Dialect = {
  readConversation(path, { tools = [], input = [] }) {
    if (!path.endsWith('/responses')) return undefined;
    const found = input.flatMap((item: Json) => (item.type === 'tool_search_output' ? item.tools : []));
    return {
      tools: [...tools, ...found].flatMap(namesOf),
      canSearch: tools.some(({ type }: Json) => type === 'tool_search'),
      added: splitAfterTurns(input, ({ type }) => type === 'function_call'),
    };
  },
  writeTurn: (turn) => streamOf(itemOf(turn)),
};

/** An answer of one item. */
export function streamOf(item: Json): Reply {
  const response = { id: 'resp_1', object: 'response' };
  return events([
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ]);
}

const usage = {
  ...{ input_tokens: 1, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 },
};

/** Codex puts the tools of one server into a namespace. */
function namesOf(tool: Json): string[] {
  return tool.type === 'namespace'
    ? tool.tools.map(({ name }: Json) => `${tool.name}${separator}${name}`)
    : [tool.name ?? tool.type];
}

const separator = '.';

function itemOf(turn: Turn): Json {
  if ('say' in turn) {
    const content = [{ type: 'output_text', text: turn.say, annotations: [] }];
    return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  }
  if ('search' in turn) {
    const search = { query: turn.search, limit: 100 };
    return { type: 'tool_search_call', call_id: 'search', execution: 'client', status: 'completed', arguments: search };
  }
  const [space, name] = turn.tool.split(separator);
  const named = name === undefined ? { name: space } : { namespace: space, name };
  return {
    type: 'function_call',
    id: `fc_${turn.id}`,
    call_id: turn.id,
    arguments: JSON.stringify(turn.input),
    ...named,
  };
}
