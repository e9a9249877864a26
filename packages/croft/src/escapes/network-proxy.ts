import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Ground, Outcome, Ran } from './escape.ts';
import { type Listener, listenAt, listenEverywhere } from './listener.ts';
import { type Problem, verdict } from './verdict.ts';

const body = 'an answer from this machine';
const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
const refused = /^HTTP\/1\.1 4\d\d /;
const failed = /^HTTP\/1\.1 [45]\d\d /;

/** Servers of this machine: one that the usual policy allows, and one at each address that nobody may reach. */
export interface Servers {
  readonly allowed: Listener;
  readonly closed: readonly Listener[];
  /** One of the closed, on the same address as the allowed. */
  readonly other: Listener;
}

export interface RestrictedAttempt {
  /** Only the allowed server if left out. */
  policy?(servers: Servers): Pick<NetworkPolicy & { mode: 'restricted' }, 'domains' | 'cidrs'>;
  /** Whether the policy leaves the allowed server allowed. */
  readonly hasControl?: boolean;
  /** Whether a request may also fail for another reason, such as a name that this machine does not know. */
  readonly mayFail?: boolean;
  /** Sent to the proxy as they are, a connection each. None may get further than the proxy. */
  requests?(servers: Servers): readonly (string | Buffer)[];
  /** Something else to do in that sandbox. */
  further?(ground: Ground, servers: Servers): Promise<readonly Problem[]>;
}

/**
 * Makes requests that the proxy of a restricted sandbox must refuse. Sees afterwards that what is allowed is reached:
 * where nothing works nothing is shown.
 */
export async function attemptRestricted(ground: Ground, attempt: RestrictedAttempt): Promise<Outcome> {
  await using stack = new AsyncDisposableStack();
  const listen = async (address: string) => stack.use(await listenAt(address, answer));
  const [allowed, other] = [await listen('127.0.0.1'), await listen('127.0.0.1')];
  const rest = await listenEverywhere(answer);
  for (const listener of rest) stack.use(listener);
  const servers: Servers = { allowed, other, closed: [other, ...rest] };
  const { domains, cidrs } = attempt.policy?.(servers) ?? { domains: [], cidrs: [toCidr(allowed)] };
  const own = await ground.open({ network: { mode: 'restricted', domains, cidrs } });

  const requests = attempt.requests?.(servers) ?? [];
  const ran = requests.length > 0 ? await ask(own, requests, { untilTaken: true }) : undefined;
  const heard = (await Promise.all([...servers.closed, allowed].map((server) => server.findHeard()))).flat();
  if (heard.length > 0) return verdict(heard);
  const further = (await attempt.further?.(own, servers)) ?? [];
  if (further.some(Boolean)) return verdict(further);
  const control = attempt.hasControl === false ? [] : await findControl(own, allowed);
  const judged = ran ? judgeAnswers(ran, requests.length, attempt.mayFail) : [];
  return verdict(judged, control);
}

export const toCidr = ({ address, port }: Listener) => `${address}/${address.includes(':') ? 128 : 32}:${port}`;
export const toAuthority = ({ address, port }: Listener) => `${bracket(address)}:${port}`;
export const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address);

/** A request as programs make it, for a whole URL. */
export function get(authority: string, host = authority.replace(/^.*@/, ''), ...headers: readonly string[]): string {
  const lines = [`GET http://${authority}/ HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

export function tunnelTo(authority: string): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
}

interface AskOptions {
  /** For what follows the first line of an answer. */
  readonly seconds?: number;
  /** Whether one that is taken is the last: it says enough, and may go on for long. */
  readonly untilTaken?: boolean;
}

/** Says each to the proxy inside, and answers what came back, a line before each. */
export function ask(
  ground: Ground,
  requests: readonly (string | Buffer)[],
  { seconds = 2, untilTaken = false }: AskOptions = {},
): Promise<Ran> {
  for (const [index, request] of requests.entries()) {
    writeFileSync(join(ground.workspace, `request-${String(index).padStart(3, '0')}`), request);
  }
  return ground.run(`for request in request-*; do
    echo; echo "--- $request"
    exec 3<>/dev/tcp/127.0.0.1/3128 || continue
    cat "$request" >&3; IFS= read -rt ${seconds} first <&3; echo "$first"
    case "$first" in *' 200 '*) ${untilTaken ? 'break' : ':'};; esac
    timeout ${seconds} cat <&3 | head -c 3000; exec 3>&-
  done 2>/dev/null; rm -f request-*`);
}

function answersIn({ output }: Ran): string[] {
  return output
    .split(/^--- request-\d+\n/m)
    .slice(1)
    .map((text) => text.trim());
}

/** Each with the rule it broke, and all of them told to whoever ran the command. */
function judgeAnswers(ran: Ran, asked: number, mayFail = false): Problem[] {
  const answers = answersIn(ran);
  const missing = answers.length !== asked && `${answers.length} of ${asked} requests were answered`;
  const strange = answers.filter((text) => !(mayFail ? failed : refused).test(text) || text.includes(body));
  const isTold = mayFail || ran.denials.some(({ layer }) => layer === 'network');
  return [missing, ...strange.map((text) => `not refused: ${text.slice(0, 100)}`), !isTold && 'no denial was told'];
}

async function findControl(ground: Ground, allowed: Listener): Promise<Problem[]> {
  const { output } = await ask(ground, [get(toAuthority(allowed))]);
  if (!output.includes(body)) throw new Error(`what is allowed is not reached, so nothing is shown: ${output}`);
  return [];
}
