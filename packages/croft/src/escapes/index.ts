import { controlFiles } from './control-files.ts';
import { controlTools } from './control-tools.ts';
import type { Escape } from './escape.ts';
import { git } from './git.ts';
import { kernel } from './kernel.ts';
import { network } from './network.ts';
import { paths } from './paths.ts';
import { resources } from './resources.ts';
import { secrets } from './secrets.ts';

/** All escapes, by group and number. */
export const escapes: readonly Escape[] = [
  ...paths,
  ...kernel,
  ...controlFiles,
  ...controlTools,
  ...git,
  ...network,
  ...secrets,
  ...resources,
];
