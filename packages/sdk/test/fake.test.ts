import { describe } from 'vitest';
import { createFakeCroft } from '../src/testing/index.ts';
import { testBoxes } from './suite/box-suite.ts';

describe('boxes of the fake', () => {
  testBoxes(async () => {
    const { croft, command } = createFakeCroft();
    return {
      croft,
      teach: (line, { hangs, ...does }) => command(line, { ...does, ...(hangs && { takesMs: Infinity }) }),
      [Symbol.asyncDispose]: async () => {},
    };
  });
});
