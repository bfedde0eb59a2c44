import type { ProviderOption } from '../fields/field.ts'

/** Returns the setting or the command that makes an unusable provider usable (D71). */
export function findRemedy(
  { id, name, supportsOwnKey, requiresOwnKey }: Omit<ProviderOption, 'disabled' | 'credits'>,
  { ownKey, hasAddress }: { ownKey: boolean; hasAddress: boolean },
): string {
  const connect = `connect it with loam connection add --provider ${id}`
  const listed = ` and list it as {"name": "${name}", "use_own_key": true}`
  if (ownKey) return connect
  if (requiresOwnKey) return `${connect}${listed}`
  if (!hasAddress) return `set LOAM_PROVIDER_URL_${id.toUpperCase()}`
  const set = `set LOAM_PROVIDER_KEY_${id.toUpperCase()}`
  return supportsOwnKey ? `${set}, or ${connect}${listed}` : set
}

const MAX_NAMED = 3

/** Describes a waterfall in which no provider can be called. */
export function describeUnasked(remedies: readonly { provider: string; remedy: string }[]): string {
  const named = remedies.slice(0, MAX_NAMED).map(({ provider, remedy }) => `${provider}: ${remedy}`)
  const others = remedies.slice(MAX_NAMED).map(({ provider }) => provider)
  const more = others.length === 0 ? '' : `; or one of ${others.join(', ')} likewise`
  return `none of its providers can be asked. ${named.join('; ')}${more}`
}

/** Describes the missing connection of an action with one provider. `otherwise` is the other way to configure it. */
export function describeUnconnected(
  { id, name, otherwise }: { id: string; name: string; otherwise?: string },
  connection: string | undefined,
): string {
  const which =
    connection === undefined
      ? `${name} is not connected`
      : `there is no connection "${connection}" to ${name}`
  const more = otherwise === undefined || connection !== undefined ? '' : `, or ${otherwise}`
  return `${which}; add it with loam connection add --provider ${id}${more}`
}
