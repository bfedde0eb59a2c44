import { type Config, ConfigError, readConfig, SETTINGS } from '#server/lib/config/config.ts'
import { type Check, fail, ok, warn } from './check.ts'

type Environment = Record<string, string | undefined>

/** Without a config the other checks would look at the wrong things, so there is none when a setting is wrong. */
export function checkSettings(env: Environment): { checks: Check[]; config: Config | null } {
  const unknown = unknownSettings(env)
  try {
    const config = readConfig(env)
    const given = Object.keys(SETTINGS).filter((name) => env[name])
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

/** A misspelt name is ignored by the server, which is why somebody should say so. */
function unknownSettings(env: Environment): Check[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('LOAM_') && env[name] && !Object.hasOwn(SETTINGS, name))
    .map((name) =>
      warn('settings', `${name} is no setting and has no effect`, 'correct its name or unset it'),
    )
}
