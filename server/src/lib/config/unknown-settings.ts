import { didYouMean } from '../nearest-name.ts'
import { SETTINGS } from './config.ts'
import { isProviderSetting } from './provider-settings.ts'

/** Variables that only developers use (CONTRIBUTING.md). */
const FOR_DEVELOPERS = new Set(['LOAM_WITHOUT'])

/**
 * Returns a line for each variable that looks like a setting but is not one. A misspelt setting has no
 * effect, and without this line nobody would notice.
 */
export function listUnknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('LOAM_') && env[name])
    .filter((name) => !Object.hasOwn(SETTINGS, name) && !isProviderSetting(name) && !FOR_DEVELOPERS.has(name))
    .map((name) => `${name} is no setting and has no effect${suggestName(name)}`)
}

/**
 * Returns a hint at the right name. A few settings have names that many programs use, without the prefix
 * LOAM_.
 */
function suggestName(name: string): string {
  const bare = name.slice('LOAM_'.length)
  return Object.hasOwn(SETTINGS, bare) ? `; did you mean ${bare}?` : didYouMean(name, Object.keys(SETTINGS))
}
