import type { Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import { type Frame, frameTypes, ProtocolFault } from './frames.ts';
import { Inbound } from './inbound.ts';
import { encodeJson } from './json.ts';
import { channelCount } from './limits.ts';
import { createMessages } from './messages.ts';
import { Outbound, type Road } from './outbound.ts';
import type { Conversation } from './peer.ts';

/** The channels and messages of one call, on either side. */
export class Talk {
  readonly #road: Road;
  readonly #inbound = new Map<number, Inbound>();
  readonly #outbound = new Map<number, Outbound>();
  readonly #messages: ReturnType<typeof createMessages>;
  #end: { readonly error: Error | undefined } | undefined;

  /** `onBroken` when the call cannot go on. */
  constructor(road: Road, onBroken: (error: AppError) => void) {
    this.#road = road;
    this.#messages = createMessages(onBroken);
  }

  get conversation(): Conversation {
    return {
      readable: (channel): Readable => this.#inboundOf(channel).stream,
      writable: (channel): Writable => this.#outboundOf(channel).stream,
      tell: (message) => this.#tell(message),
      onTold: this.#messages.listen,
    };
  }

  receive(frame: Frame): void {
    const { type, channel, payload } = frame;
    if (type === frameTypes.data) this.#inboundOf(channel).receive(payload);
    else if (type === frameTypes.tell) this.#messages.receive(payload);
    else if (type === frameTypes.credit) this.#outboundOf(channel).grant(payload.readUInt32LE(0));
    else this.#receiveEnd(frame);
  }

  /** Ends what this side writes. Nothing to wait for if all of it is on its way already. */
  finishWriting(): Promise<unknown> | undefined {
    if (this.#outbound.size === 0) return undefined;
    const waits = [...this.#outbound.values()].map((channel) => channel.end()).filter((wait) => wait !== undefined);
    return waits.length > 0 ? Promise.all(waits) : undefined;
  }

  /** The call is over: nothing more comes, and nothing more is heard. With an error its streams break. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = { error };
    for (const channel of this.#inbound.values()) endInbound(channel, error);
    for (const channel of this.#outbound.values()) channel.close(error);
  }

  #receiveEnd({ type, channel }: Frame): void {
    if (type !== frameTypes.end && type !== frameTypes.break) throw new ProtocolFault('a frame that does not fit here');
    const ended = this.#inboundOf(channel);
    if (ended.isEnded) throw new ProtocolFault('a second end of a channel');
    if (type === frameTypes.end) ended.end();
    else ended.fail(new AppError('E_CANCELLED', 'the other side stopped writing before the end'));
  }

  #tell(message: unknown): void {
    const body = encodeJson(message, 'the contents of a message');
    if (!this.#end) this.#road.send(frameTypes.tell, 0, body);
  }

  #inboundOf(channel: number): Inbound {
    const known = this.#inbound.get(checkChannel(channel));
    if (known) return known;
    const made = new Inbound((bytes) => {
      if (!this.#end && !made.isEnded) this.#road.send(frameTypes.credit, channel, toUint32(bytes));
    });
    this.#inbound.set(channel, made);
    if (this.#end) endInbound(made, this.#end.error);
    return made;
  }

  #outboundOf(channel: number): Outbound {
    const known = this.#outbound.get(checkChannel(channel));
    if (known) return known;
    const made = new Outbound(channel, this.#road);
    this.#outbound.set(channel, made);
    if (this.#end) made.close(this.#end.error);
    return made;
  }
}

/** What came to its end is whole, whatever became of the call. */
function endInbound(channel: Inbound, error: Error | undefined): void {
  if (channel.isEnded) return;
  if (error) channel.fail(error);
  else channel.end();
}

function checkChannel(channel: number): number {
  if (Number.isInteger(channel) && channel >= 0 && channel < channelCount) return channel;
  throw new RangeError(`a call has channels from 0 to ${channelCount - 1}, not ${channel}`);
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
