import { didYouMean } from '../nearest-name.ts'
import { SETTINGS } from './config.ts'
import { isProviderSetting } from './provider-settings.ts'

/** A line for each variable that looks like a setting and is none: a misspelt one has no effect, which nobody would notice. */
export function listUnknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('LOAM_') && env[name])
    .filter((name) => !Object.hasOwn(SETTINGS, name) && !isProviderSetting(name))
    .map((name) => `${name} is no setting and has no effect${hintAt(name)}`)
}

/** Some settings have the names that many programs use, without a prefix. */
function hintAt(name: string): string {
  const bare = name.slice('LOAM_'.length)
  return Object.hasOwn(SETTINGS, bare) ? `; did you mean ${bare}?` : didYouMean(name, Object.keys(SETTINGS))
}
