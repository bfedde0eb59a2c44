import { readdir } from 'node:fs/promises'
import { isSource, type Source } from './define.ts'
import { COMMON_FIELDS } from './request.ts'

/** Every kind of source there is, by its slug. */
export type SourceCatalogue = { get(slug: string): Source | undefined; list(): Source[] }

/** Reads the folder of definitions: a new kind of source is one file in it and nothing else. */
export async function loadSources(): Promise<SourceCatalogue> {
  const names = (await readdir(new URL('definitions/', import.meta.url)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort()
  return createSources(
    await Promise.all(
      names.map(async (name) => ({
        file: `${name}.ts`,
        module: (await import(`./definitions/${name}.ts`)) as unknown,
      })),
    ),
  )
}

const SLUG = /^[a-z][a-z0-9_]*$/

/** Refuses whatever would make two kinds one, or leave a caller's field to two readers. */
export function createSources(definitions: { file: string; module: unknown }[]): SourceCatalogue {
  const sources = new Map<string, Source>()
  for (const { file, module } of definitions) {
    const source = defaultOf(module)
    const at = `sources/definitions/${file}`
    if (!isSource(source)) throw new Error(`${at} must export a default made by defineSource`)
    const { slug } = source
    if (file !== `${slug}.ts` || !SLUG.test(slug))
      throw new Error(`${at} defines ${slug}: its name is ${slug}.ts`)
    const taken = Object.keys(source.body.shape).find((name) => COMMON_FIELDS.has(name))
    if (taken !== undefined) throw new Error(`${at}: ${taken} is a field of every source`)
    sources.set(slug, source)
  }
  const sorted = [...sources.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1))
  return { get: (slug) => sources.get(slug), list: () => sorted }
}

function defaultOf(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
}
