import { z } from 'zod';
import { defineMethod, Nothing } from './define-method.ts';

/**
 * The server sends a notice to the operator of the runner's machine. Runners of older releases do not have this method.
 */
export const notifyOperator = defineMethod(
  'runner.notice',
  z.object({ message: z.string().min(1).max(1000) }),
  Nothing,
);
