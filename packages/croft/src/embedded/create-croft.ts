import { Croft } from '@croft/sdk';

export interface EmbeddedOptions {
  /** The directory with the workspaces and the records. Default: `embedded` in the data directory of Croft. */
  readonly data?: string | undefined;
  /** The provider of sandboxes, named as in `--sandbox`. Default: bubblewrap. */
  readonly provider?: string | undefined;
  /** Receives warnings for the operator. Default: a line on standard error. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Croft inside this program, without a server and without a port: the same routes, tools, fence and records. One program
 * at a time may use a data directory. Dispose of it to end its sandboxes.
 */
export async function createCroft(options: EmbeddedOptions = {}): Promise<Croft> {
  // Loads most of the program, which a program that only names the type does not need.
  const { openEmbedded } = await import('./open-embedded-platform.ts');
  const { fetch, key, close } = await openEmbedded(options);
  return new Croft({ server: 'http://localhost', key, fetch, retries: 0, onClose: close });
}
