import type { HostTools } from '../../host/toolchains/host-tools.ts';
import { unavailable } from './docker-errors.ts';
import type { EngineClient } from './engine-client.ts';
import { ensureMountPointImage } from './mount-point-image.ts';

/** The programs of a container. */
export interface ChosenImage {
  readonly name: string;
  readonly tools: HostTools;
  /** Whether containers have the programs of this machine, and not those of an image. */
  readonly isHost: boolean;
}

const usualPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Chooses the image that was asked for by name, or else this machine's own programs. Never fetches an image. */
export async function chooseImage(
  engine: EngineClient,
  wanted: string | undefined,
  ofHost: HostTools,
): Promise<ChosenImage> {
  if (wanted === undefined) return { name: await ensureMountPointImage(engine), tools: ofHost, isHost: true };
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
  return {
    name: wanted,
    tools: { directories: [], path: path ?? usualPath, environment: {}, files: [] },
    isHost: false,
  };
}
