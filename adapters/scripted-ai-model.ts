/** What the model of a test does, one entry for each time it is asked. */
export type Step = string | { readonly call: string; readonly input: object };

let calls = 0;

/** An answer of a model in the form of AI SDK 6 and 7. */
export function toAnswer(step: Step) {
  const isText = typeof step === 'string';
  const content = isText
    ? { type: 'text' as const, text: step }
    : {
        ...{ type: 'tool-call' as const, toolCallId: `call-${++calls}`, toolName: step.call },
        input: JSON.stringify(step.input),
      };
  return {
    content: [content],
    finishReason: { unified: isText ? ('stop' as const) : ('tool-calls' as const), raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    },
    warnings: [],
  };
}
