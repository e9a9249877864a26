import { expect, test } from 'vitest';
import { toFormFields, toInput } from './tool-form.ts';

const schema = {
  properties: {
    limit: { type: 'integer' },
    command: { type: 'string', description: 'What to run' },
    background: { type: 'boolean' },
    edits: { type: 'array' },
    mode: { type: 'string', enum: ['a', 'b'] },
  },
  required: ['command'],
};

test('needed arguments come first', () => {
  const fields = toFormFields(schema);
  expect(fields.map(({ name, type, isRequired }) => [name, type, isRequired])).toEqual([
    ['command', 'text', true],
    ['limit', 'number', false],
    ['background', 'boolean', false],
    ['edits', 'json', false],
    ['mode', 'text', false],
  ]);
  expect(fields[4]?.choices).toEqual(['a', 'b']);
  expect(toFormFields({})).toEqual([]);
});

test('empty fields are left out, and numbers are numbers', () => {
  const values = { command: '42', limit: '5', background: 'true', edits: '[{', mode: '' };
  expect(toInput(toFormFields(schema), values)).toEqual({ command: '42', limit: 5, background: true, edits: '[{' });
});
