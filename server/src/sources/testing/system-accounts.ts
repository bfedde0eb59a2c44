import { connect } from 'node:net'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { serveDouble } from '../../catalog/testing/provider-double.ts'
import { BUCKET, CREDENTIALS, REGION, startS3Server } from '../../files/testing/s3-server.ts'
import { type Account, accountOf, iso, jsonOf, since, slice, type Thing } from './account.ts'
import { serveAccount } from './hubspot-account.ts'

const SPREADSHEET = '1AbcDefGhiJklMnoPqr'
const NOTION = '0123456789abcdef0123456789abcdef'

const csvOf = (things: Thing[]) => `Id,Name\n${things.map(({ id }) => `${id},item ${id}\n`).join('')}`

/** Opens a database with the things in a table, behind a port on loopback. */
async function openDatabase(things: Thing[]) {
  const address = await makeDatabase()
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('create table things (id int primary key, name text)')
  const add = async (added: Thing[]) => {
    const ids = added.map(({ id }) => id)
    await client.query(`insert into things select n, 'item ' || n from unnest($1::int[]) n`, [ids])
  }
  await add(things)
  const { port } = await serveRaw((socket) => {
    const server = connect(`${client.host}/.s.PGSQL.${client.port}`)
    server.on('error', () => socket.destroy())
    socket.pipe(server).pipe(socket)
  })
  const { username, password, pathname } = new URL(address)
  return { secret: `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`, add }
}

/** Accounts of the systems that sources import from. */
export const SYSTEMS: readonly Account[] = [
  {
    name: 'extract_from_website',
    slug: 'extract_from_website',
    async open(things) {
      const { origin } = await serveDouble(({ path }) => {
        if (path !== '/list') return { status: 404, text: '' }
        const lines = things.map(({ id }) => `<tr><td>item ${id}</td><td>${id}</td></tr>`).join('')
        const html = `<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody>${lines}</tbody></table>`
        return { headers: { 'content-type': 'text/html' }, text: html }
      })
      return { body: { url: `${origin}/list` }, settings: { fields: null } }
    },
  },
  accountOf(
    { slug: 'import_from_airtable', provider: 'airtable' },
    { base: 'appAbcDefGhiJkl', table: 'Leads' },
    (things, { query }) => {
      const { found, next } = slice(things, query['offset'], query['pageSize'])
      const records = found.map(({ id }) => ({ id: `rec${id}`, fields: { Name: `item ${id}` } }))
      return { json: { records, ...(next === null ? {} : { offset: next }) } }
    },
  ),
  {
    name: 'import_from_api',
    slug: 'import_from_api',
    async open(things) {
      const { origin } = await serveDouble(({ query }) => ({
        json: slice(things, query['offset'], query['limit']).found,
      }))
      const body = { url: `${origin}/items`, key_path: 'id', pagination: { type: 'offset', size: 40 } }
      return { body, settings: { fields: null } }
    },
  },
  accountOf({ slug: 'import_from_attio', provider: 'attio' }, { object: 'people' }, (things, seen) => {
    const { offset, limit } = jsonOf(seen)
    const { found } = slice(things, offset, limit)
    return { json: { data: found.map(({ id }) => ({ id: { record_id: String(id) }, values: {} })) } }
  }),
  {
    name: 'import_from_csv_url',
    slug: 'import_from_csv_url',
    async open(things) {
      const headers = { 'content-type': 'text/csv' }
      const { origin } = await serveDouble(() => ({ text: csvOf(things), headers }))
      return { body: { url: `${origin}/leads.csv`, key_column: 'Id' }, settings: { fields: null } }
    },
  },
  accountOf({ slug: 'import_from_fireflies', provider: 'fireflies' }, {}, (things, seen) => {
    const { fromDate, limit, skip } = jsonOf(seen)['variables'] as Record<string, unknown>
    const { found } = slice(since(things, fromDate).toReversed(), skip, limit)
    return { json: { data: { transcripts: found.map(({ id, at }) => ({ id: String(id), date: at })) } } }
  }),
  accountOf(
    { slug: 'import_from_google_sheets', provider: 'google_sheets' },
    { spreadsheet_id: SPREADSHEET, sheet_name: 'Leads', key_column: 'Id' },
    (things, { path }) => {
      const grid = [['Id', 'Name'], ...things.map(({ id }) => [id, `item ${id}`])]
      const [, from, to] = /!(\d+):(\d+)$/.exec(decodeURIComponent(path)) ?? []
      const last = Math.min(Number(to), 1000)
      const values = grid.slice(Number(from) - 1, last)
      return { json: { range: `'Leads'!A${from}:B${last}`, ...(values.length === 0 ? {} : { values }) } }
    },
  ),
  {
    name: 'import_from_hubspot',
    slug: 'import_from_hubspot',
    async open(things) {
      const { origin } = await serveDouble((seen) =>
        serveAccount(
          things.map(({ id, at }) => ({ id: String(id), properties: { hs_lastmodifieddate: iso(at) } })),
        )(seen),
      )
      const body = { object_type: 'companies', properties: ['name'] }
      return { body, settings: { urls: { hubspot: origin } } }
    },
  },
  accountOf({ slug: 'import_from_notion', provider: 'notion' }, { database: NOTION }, (things, seen) => {
    if (seen.method === 'GET') return { json: { data_sources: [{ id: 'ds-1' }] } }
    const { filter, page_size, start_cursor } = jsonOf(seen) as {
      filter?: { last_edited_time: { on_or_after: string } }
      page_size: number
      start_cursor?: string
    }
    // The minute of a timestamp, because the provider reports and compares whole minutes.
    const minute = (at: number) => at - (at % 60_000)
    const from = filter === undefined ? 0 : minute(Date.parse(filter.last_edited_time.on_or_after))
    const all = things.filter(({ at }) => minute(at) >= from)
    const { found, next } = slice(all, start_cursor, page_size)
    const results = found.map(({ id, at }) => ({ id: String(id), last_edited_time: iso(minute(at)) }))
    return { json: { results, has_more: next !== null, next_cursor: next } }
  }),
  accountOf(
    { slug: 'import_from_pipedrive', provider: 'pipedrive' },
    { object: 'deals' },
    (things, { query }) => {
      const { found, next } = slice(since(things, query['updated_since']), query['cursor'], query['limit'])
      const data = found.map(({ id, at }) => ({ id, update_time: iso(at) }))
      return { json: { data, additional_data: { next_cursor: next } } }
    },
  ),
  {
    name: 'import_from_postgres',
    slug: 'import_from_postgres',
    async open(things) {
      const { secret, add } = await openDatabase(things)
      const body = { table: 'things', key_column: 'id' }
      return { body, settings: { fields: { secret } }, add: (thing: Thing) => add([thing]) }
    },
  },
  {
    name: 'import_from_s3',
    slug: 'import_from_s3',
    async open(things) {
      const server = await startS3Server()
      onTestFinished(() => server.close())
      server.objects.set('a.csv', Buffer.from(csvOf(things)))
      const fields = {
        secret: CREDENTIALS.secretAccessKey,
        access_key_id: CREDENTIALS.accessKeyId,
        region: REGION,
        endpoint: server.url,
      }
      const add = async (thing: Thing) => {
        server.objects.set(`b${thing.id}.csv`, Buffer.from(csvOf([thing])))
        server.times.set(`b${thing.id}.csv`, new Date(thing.at))
      }
      return { body: { bucket: BUCKET, key_column: 'Id' }, settings: { fields }, add }
    },
  },
  accountOf(
    { slug: 'import_from_salesforce', provider: 'salesforce' },
    { object: 'Contact', fields: ['Email'] },
    (things, seen) => {
      const at = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time))
      const query = seen.query['q'] ?? decodeURIComponent(seen.path.split('from=')[1] ?? '')
      const all = since(things, at(/SystemModstamp >= (\S+)/.exec(query)?.[1]))
      const start = Number(/-(\d+)$/.exec(seen.path)?.[1] ?? 0)
      const { found, next } = slice(all, start, 40)
      return {
        json: {
          totalSize: all.length,
          done: next === null,
          ...(next === null ? {} : { nextRecordsUrl: `/services/data/v59.0/query/01g-${next}` }),
          records: found.map(({ id, at: time }) => ({ Id: String(id), SystemModstamp: iso(time) })),
        },
      }
    },
  ),
  accountOf(
    { slug: 'import_from_slack', provider: 'slack' },
    { channels: ['C01AAA'] },
    (things, { path, query }) => {
      if (path === '/auth.test') return { json: { ok: true, url: 'https://acme.slack.com/' } }
      const after = Number(query['oldest'] ?? 0)
      const newest = things.toReversed().filter(({ id }) => id > after)
      const { found, next } = slice(newest, query['cursor'], query['limit'])
      const messages = found.map(({ id }) => ({ ts: String(id), text: `message ${id}` }))
      return { json: { ok: true, messages, response_metadata: { next_cursor: next ?? '' } } }
    },
  ),
  accountOf(
    { slug: 'import_from_snowflake', provider: 'snowflake' },
    { table: 'SALES.PUBLIC.LEADS', key_column: 'id' },
    (things, seen) => {
      const { statement, bindings } = jsonOf(seen) as {
        statement: string
        bindings: Record<string, { value: string }>
      }
      const after = Number(bindings['1']?.value ?? 0)
      const size = Number(/limit (\d+)$/.exec(statement)?.[1])
      const data = things.filter(({ id }) => id > after).slice(0, size)
      return {
        json: {
          resultSetMetaData: { rowType: [{ name: 'ID', type: 'fixed' }], partitionInfo: [{}] },
          data: data.map(({ id }) => [String(id)]),
        },
      }
    },
    { fields: { secret: 'a-key', warehouse: 'WH' } },
  ),
  accountOf(
    { slug: 'import_from_typeform', provider: 'typeform' },
    { form_id: 'u6nXL7' },
    (things, { path, query }) => {
      if (path === '/forms/u6nXL7') return { json: { id: 'u6nXL7', fields: [] } }
      const from = query['since']
      const all = since(things, from === undefined ? undefined : `${from}Z`)
      const start = all.findIndex(({ id }) => String(id) === query['after']) + 1
      const { found } = slice(all, start, query['page_size'])
      const items = found.map(({ id, at }) => ({ token: String(id), submitted_at: iso(at) }))
      return { json: { total_items: all.length, items } }
    },
  ),
]
