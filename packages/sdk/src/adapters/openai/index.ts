export type { ModelToolsOptions } from '../model-tools.ts';
export { type OpenAiSandbox, openaiSandbox } from './openai-sandbox.ts';
export { type OpenAiTool, openaiTools } from './openai-tools.ts';
