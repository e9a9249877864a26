import { defineDetector } from '../core/profile.ts';

export const rust = defineDetector('rust', ['Cargo.toml']);
