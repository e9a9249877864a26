export type { ModelToolsOptions } from '../model-tools.ts';
export { type DeepAgentsBackend, deepagentsBackend } from './deepagents-backend.ts';
export { langchainTools } from './langchain-tools.ts';
