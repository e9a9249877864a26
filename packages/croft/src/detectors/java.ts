import { defineDetector } from '../core/profile.ts';

export const java = defineDetector('java', ['pom.xml', 'build.gradle', 'build.gradle.kts']);
