export type { ModelToolsOptions } from '../model-tools.ts';
export { type AiSandbox, aiSandbox } from './ai-sandbox.ts';
export { type AiTool, type AiTools, aiTools } from './ai-tools.ts';
