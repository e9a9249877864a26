import { runnerLinkPath, runnerSubprotocol } from '@croft/protocol';
import type { RunnerSocket } from '../../app/fleet/runner-socket.ts';
import { readBearer } from '../http/guards.ts';
import type { UpgradeHandler } from './serve-upgrades.ts';

/** A little more than the largest message of a link: nobody may send more before being identified. */
const maxFrameBytes = 1.25 * 1024 * 1024;

/** Upgrades connections of runners. The link itself checks the token, because it can tell the runner why it refuses. */
export function createRunnerUpgrade(runners: Pick<RunnerSocket, 'accept'>): UpgradeHandler {
  return {
    subprotocol: runnerSubprotocol,
    maxFrameBytes,
    async accept({ url, request, address, isEncrypted }) {
      if (url.pathname !== runnerLinkPath) return undefined;
      const token = readBearer(request.headers.authorization);
      return (socket) => runners.accept(socket, { token, address, isEncrypted });
    },
  };
}
