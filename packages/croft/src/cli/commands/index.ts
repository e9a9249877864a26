export { doctor } from './doctor.ts';
export { mcp } from './mcp.ts';
export { serve } from './serve.ts';
export { tool } from './tool.ts';
