import { defineDetector } from '../core/profile.ts';

export const typescript = defineDetector('typescript', ['package.json', 'deno.json', 'deno.jsonc', 'tsconfig.json']);
