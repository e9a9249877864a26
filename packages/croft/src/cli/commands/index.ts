export { approvals } from './approvals.ts';
export { audit } from './audit.ts';
export { doctor } from './doctor.ts';
export { keys } from './keys.ts';
export { mcp } from './mcp.ts';
export { serve } from './serve.ts';
export { tool } from './tool.ts';
