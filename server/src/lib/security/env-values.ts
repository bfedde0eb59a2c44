import { unreadableWords } from './secrets.ts'

/** The values of environment variables by key, and the keys of those that cannot be opened. */
export type EnvValues = ReadonlyMap<string, string> & { readonly unreadable?: ReadonlySet<string> }

/**
 * Returns the message for a variable that exists but cannot be opened, or undefined for any other variable.
 */
export function describeUnreadable({ unreadable }: EnvValues, key: string): string | undefined {
  if (unreadable?.has(key) !== true) return undefined
  return unreadableWords(`the environment variable ${key}`, `set it again: \`loam env set ${key} -\``)
}
