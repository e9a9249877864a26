/** Limits for requests of either side. A peer that exceeds one is disconnected, so that it cannot make memory grow. */

/** The payload of a `data` frame. */
export const maxDataBytes = 64 * 1024;
/** The payload of a frame of JSON: params, an answer, a message. Anything larger goes through a channel. */
export const maxJsonBytes = 1024 * 1024;
/** Frames that are sent at the same moment share one message up to this size. */
export const batchBytes = 128 * 1024;
/** The largest message: a single frame may be larger than `batchBytes`. */
export const maxMessageBytes = maxJsonBytes + batchBytes;

/** Unread bytes of a channel, in flight or buffered, before the first read. */
export const initialWindow = 64 * 1024;
/** The same limit after the first read. */
export const fullWindow = 256 * 1024;
/**
 * Counted for every frame of a channel in addition to its bytes, because a flood of one-byte frames costs memory as
 * well.
 */
export const frameCost = 128;

export const channelCount = 8;
/** Calls of one side that are open at once. */
export const maxCalls = 4096;
/** Messages of one call that wait for a listener. */
export const maxUnreadMessages = 1024;
export const maxUnreadMessageBytes = 1024 * 1024;

/** Unacknowledged bytes from which on writers wait. */
export const fullLinkBytes = 16 * 1024 * 1024;
/** Unacknowledged bytes from which on the link is given up: the other side reads nothing and keeps asking. */
export const maxLinkBytes = 64 * 1024 * 1024;
/** Bytes that were passed to a connection and not written yet. */
export const maxBufferedBytes = 1024 * 1024;

/** An acknowledgement is sent on its own after this time or this many bytes, if no frame carried it before. */
export const ackAfterMs = 25;
export const ackAfterBytes = 512 * 1024;
