import { readFile, writeFile } from 'node:fs/promises'
import type { Action } from '#server/catalog/define.ts'
import type { Provider } from '#server/catalog/provider/provider.ts'
import { loadAdapters, loadProviders, type RegisteredAdapter } from '#server/catalog/providers/registry.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'

const BEGIN = '<!-- from here made by `npm run docs` -->'
const END = '<!-- to here -->'

/** Returns the tables of docs/providers.md: the providers asked by each action, and all providers. */
async function printProviderTables(): Promise<string> {
  const [catalogue, providers, adapters] = await Promise.all([
    loadCatalogue(),
    loadProviders(),
    loadAdapters(),
  ])
  return [
    printTable(
      ['action', 'asked by default, in this order', 'on request'],
      printWaterfalls(catalogue.list()),
    ),
    printTable(
      [
        'provider',
        'answers, with its credits on a key of the installation',
        'key',
        'calls at most',
        'evidence of its format',
      ],
      providers.map((provider) => printProvider(provider, adapters)),
    ),
  ].join('\n\n')
}

/** Returns the document with its tables generated again. */
export async function renewProviderDocs(document: string): Promise<string> {
  const [before, rest] = document.split(BEGIN)
  const [, after] = rest?.split(END) ?? []
  if (before === undefined || after === undefined)
    throw new Error(`docs/providers.md must have ${BEGIN} and ${END}`)
  return `${before}${BEGIN}\n\n${await printProviderTables()}\n\n${END}${after}`
}

function printWaterfalls(actions: readonly Action[]): string[][] {
  return actions.flatMap(({ id, inputs }) =>
    Object.entries(inputs).flatMap(([name, { waterfall }]): string[][] => {
      if (waterfall === undefined) return []
      const nameOf = (asked: string) => waterfall.providers.find((one) => one.id === asked)?.name ?? asked
      const usual = waterfall.usual.map(({ provider }) => provider)
      const others = waterfall.providers.map((one) => one.id).filter((one) => !usual.includes(one))
      const label = name === 'providers' ? `\`${id}\`` : `\`${id}\`, \`${name}\``
      return [[label, usual.map(nameOf).join(', '), others.map(nameOf).join(', ')]]
    }),
  )
}

function printProvider(provider: Provider, adapters: readonly RegisteredAdapter[]): string[] {
  const answers = adapters
    .filter((one) => one.provider === provider)
    .map(({ question, adapter }) => `${question.replaceAll('-', ' ')} (${adapter.price})`)
  return [
    `${provider.name} (\`${provider.id}\`)`,
    answers.join(', ') || 'actions and sources of its own',
    describeKey(provider),
    describeLimits(provider),
    provider.evidence,
  ]
}

function describeKey({ auth, requiresOwnKey, needsAddress }: Provider): string {
  if (auth.kind === 'none') return requiresOwnKey ? 'connection' : needsAddress ? 'none; its address' : 'none'
  return requiresOwnKey ? 'connection' : 'installation or connection'
}

function describeLimits(provider: Provider): string {
  const { perSecond, perMinute, concurrent } = provider.limits({ egress: { baseUrl: (_id, usual) => usual } })
  return [
    perSecond === undefined ? [] : [`${perSecond} a second`],
    perMinute === undefined ? [] : [`${perMinute} a minute`],
    concurrent === undefined ? [] : [`${concurrent} at once`],
  ]
    .flat()
    .join(', ')
}

function printTable(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

if (import.meta.main) {
  const file = new URL('../docs/providers.md', import.meta.url)
  await writeFile(file, await renewProviderDocs(await readFile(file, 'utf8')))
}
