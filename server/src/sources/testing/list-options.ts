import type { Option } from '../../catalog/fields/field.ts'
import { createKey } from '../../catalog/provider/access.ts'
import type { ProviderReply } from '../../catalog/provider/reply.ts'
import { callProvider } from '../reach.ts'
import { loadSources } from '../registry.ts'
import { makeServices, type Settings } from './pull-source.ts'

/** Lists the choices of one field of a source, with its provider at `urls`. */
export async function listOptions(
  slug: string,
  field: string,
  context: Record<string, string>,
  { fields = { secret: 'a-key' }, ...settings }: Settings,
): Promise<ProviderReply<readonly Option[]>> {
  const source = (await loadSources()).get(slug)
  const options = source?.options[field]
  if (options === undefined) throw new Error(`${slug} has no options for ${field}`)
  if (isFixed(options)) return { ok: true, body: options }
  const provider = options.provider ?? source?.pulls[0]?.provider
  if (provider === undefined) throw new Error(`no provider for the options of ${slug}.${field}`)
  const services = makeServices(settings)
  const key = createKey('own', fields ?? {})
  return options.list(
    (request, schema) => callProvider(provider, key, services, { request, schema }),
    context,
  )
}

function isFixed(options: unknown): options is readonly Option[] {
  return Array.isArray(options)
}
