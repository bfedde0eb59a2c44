import { unreadableWords } from './secrets.ts'

/** Values of environment variables by key, and the keys of those that cannot be opened. */
export type EnvValues = ReadonlyMap<string, string> & { readonly unreadable?: ReadonlySet<string> }

/** What to say of a variable that is there and cannot be opened; undefined for any other. */
export function describeUnreadable({ unreadable }: EnvValues, key: string): string | undefined {
  if (unreadable?.has(key) !== true) return undefined
  return unreadableWords(`the environment variable ${key}`, `set it again: \`loam env set ${key} -\``)
}
