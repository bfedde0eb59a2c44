import { type Config, ConfigError, readConfig, SETTINGS } from '#server/lib/config/config.ts'
import { isProviderSetting } from '#server/lib/config/provider-settings.ts'
import { listUnknownSettings } from '#server/lib/config/unknown-settings.ts'
import { type Check, fail, ok, warn } from './check.ts'

type Environment = Record<string, string | undefined>

/**
 * Checks the settings. Returns no config if a setting is invalid, because the other checks would then check
 * the wrong things.
 */
export function checkSettings(env: Environment): { checks: Check[]; config: Config | null } {
  const unknown = unknownSettings(env)
  try {
    const config = readConfig(env)
    const given = Object.keys(env).filter(
      (name) => env[name] && (Object.hasOwn(SETTINGS, name) || isProviderSetting(name)),
    )
    const detail = given.length === 0 ? 'all by default' : `${given.join(', ')} set, the rest by default`
    return { checks: [ok('settings', detail), ...unknown], config }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const wrong = cause.message
      .split('\n')
      .map((line) => fail('settings', line, 'correct or unset this variable; the README lists every setting'))
    return { checks: [...wrong, ...unknown], config: null }
  }
}

function unknownSettings(env: Environment): Check[] {
  return listUnknownSettings(env).map((line) =>
    warn('settings', line, 'correct the name of the setting or unset it'),
  )
}
