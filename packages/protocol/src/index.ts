export { AppError, ErrorBody, type ErrorCode, ErrorEnvelope, errorCatalog } from './errors.ts';
export { LifecycleEvent, type LifecycleEventName } from './events.ts';
export { Health } from './health.ts';
