import { authorizationLabels } from './authorization-header.ts';
import { pemLabel } from './private-keys.ts';
import { assignmentLabel } from './secret-assignments.ts';
import { tokenLabels } from './token-shapes.ts';
import { urlLabel } from './url-credentials.ts';

/** Labels of the secrets that are recognised by their shape. */
export const shapeLabels: ReadonlySet<string> = new Set([
  ...tokenLabels,
  ...authorizationLabels,
  ...[pemLabel, assignmentLabel, urlLabel],
]);
