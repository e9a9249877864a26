import { runnerLinkPath, runnerSubprotocol } from '@croft/protocol';
import type { RunnerSocket } from '../app/runners/runner-socket.ts';
import { readBearer } from './guards.ts';
import type { UpgradeDoor } from './upgrades.ts';

/** A little more than the largest message of a link: before anybody has said who they are, more is nobody's. */
const maxFrameBytes = 1.25 * 1024 * 1024;

/** Who comes in here is asked for a token by the link itself, which can say why it refuses one. */
export function createRunnerDoor(runners: Pick<RunnerSocket, 'accept'>): UpgradeDoor {
  return {
    subprotocol: runnerSubprotocol,
    maxFrameBytes,
    async knock({ url, request, address, isEncrypted }) {
      if (url.pathname !== runnerLinkPath) return undefined;
      const token = readBearer(request.headers.authorization);
      return (socket) => runners.accept(socket, { token, address, isEncrypted });
    },
  };
}
