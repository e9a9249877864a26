import { controlFiles } from './control-files.ts';
import { controlFilesByTools } from './control-files-by-tools.ts';
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
  ...controlFilesByTools,
  ...git,
  ...network,
  ...secrets,
  ...resources,
];
