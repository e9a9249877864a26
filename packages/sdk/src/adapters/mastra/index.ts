export { type MastraFilesystem, mastraFilesystem } from './mastra-filesystem.ts';
export { type MastraSandbox, mastraSandbox } from './mastra-sandbox.ts';
