/**
 * A map of at most `max` entries. `set` makes an entry the newest, and drops the oldest entry beyond `max`. To drop the
 * least recently used instead of the least recently set, set an entry again when it is used.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;
  readonly #onDrop: ((value: Value, key: Key) => void) | undefined;

  /** `onDrop` is called for an entry that makes room for another. */
  constructor(max: number, onDrop?: (value: Value, key: Key) => void) {
    super();
    this.#max = max;
    this.#onDrop = onDrop;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.#max) this.#dropOldest();
    return super.set(key, value);
  }

  #dropOldest(): void {
    const [oldest] = this;
    if (!oldest) return;
    this.delete(oldest[0]);
    this.#onDrop?.(oldest[1], oldest[0]);
  }
}
