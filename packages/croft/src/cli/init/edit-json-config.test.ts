import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { editJsonConfig } from './edit-json-config.ts';

const value = { command: 'croft', args: ['mcp'] };
const edit = (text: string, inputs = [] as { id: string }[]) =>
  editJsonConfig(text, { table: 'servers', name: 'croft', value, inputs });

test.each([
  [
    '',
    '{\n  "servers": {\n    "croft": {\n      "command": "croft",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
  ],
  [
    '{ "a": 1 }',
    '{\n  "servers": {\n    "croft": {\n      "command": "croft",\n      "args": [\n        "mcp"\n      ]\n    }\n  },\n   "a": 1 }',
  ],
])('%j becomes %j', (before, after) => {
  expect(edit(before)).toBe(after);
});

test.each([
  '{}',
  '{"servers":{}}',
  '{\n\t// mine\n\t"servers": {\n\t\t"a": {} // of a\n\t},\n}\n',
  '{\r\n  "servers": { "croft": { "old": [1, 2] }, "b": {} }\r\n}\r\n',
  '{"x": "} // {", /* { */ "servers": {"a": {"b": {}}}}',
])('in %j only the entry is new, twice is once, and comments stay', (before) => {
  const after = edit(before, [{ id: 'one' }]);
  const expected = parse(before) ?? {};
  expected.servers = { ...expected.servers, croft: value };
  expected.inputs = [{ id: 'one' }];
  expect(parse(after, [], { allowTrailingComma: true })).toEqual(expected);
  expect(edit(after, [{ id: 'one' }])).toBe(after);
  for (const comment of before.match(/\/\/ [a-z ]+|\/\* \{ \*\//g) ?? []) expect(after).toContain(comment);
});
