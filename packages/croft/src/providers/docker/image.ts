import type { Toolchains } from '../../host/toolchains.ts';
import type { Engine } from './engine.ts';
import { ensureHostImage } from './host-image.ts';
import { unavailable } from './unavailable.ts';

/** What programs a container has. */
export interface ChosenImage {
  readonly name: string;
  readonly toolchains: Toolchains;
  /** Whether they are those of this machine. */
  readonly isHost: boolean;
}

const usualPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Those of an image, if one is asked for by name, else those of this machine. Nothing is fetched from anywhere. */
export async function chooseImage(
  engine: Engine,
  wanted: string | undefined,
  ofHost: Toolchains,
): Promise<ChosenImage> {
  if (wanted === undefined) return { name: await ensureHostImage(engine), toolchains: ofHost, isHost: true };
  const found = await engine.findImage(wanted);
  if (!found) throw unavailable(`the image ${wanted} is not on this machine; fetch it first: docker pull ${wanted}`);
  const volumes = Object.keys(found.Config?.Volumes ?? {});
  if (volumes.length > 0)
    throw unavailable(
      `the image ${wanted} has volumes (${volumes.join(', ')}), where commands could write without a limit; use one that has none`,
    );
  const path = found.Config?.Env?.find((variable) => variable.startsWith('PATH='))
    ?.slice('PATH='.length)
    .split(':');
  return { name: wanted, toolchains: { directories: [], path: path ?? usualPath, environment: {} }, isHost: false };
}
