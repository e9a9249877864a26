import { z } from 'zod';

/** Arguments of every check tool. */
export const inputOfCheckTools = {
  language: z.string().optional().describe('Which language, where the workspace has several; `all` for each'),
  path: z.string().optional().describe('Only the project in this directory, or of this file'),
};
