import type { FieldWords } from '#contract/actions.ts'
import type { Provider } from '../catalog/provider/provider.ts'

type Words = Pick<FieldWords, 'label' | 'help'> & Partial<FieldWords>

/** The words of the fields of connections by name. A name with its provider before it is for that provider only. */
const WORDS: Readonly<Record<string, Words>> = {
  access_key_id: {
    label: 'Access key ID',
    help: 'The ID of the access key.',
    placeholder: 'AKIAIOSFODNN7EXAMPLE',
    group: 'main',
  },
  account_url: {
    label: 'Account URL',
    help: 'The address of your Snowflake account.',
    placeholder: 'https://acme-xy12345.snowflakecomputing.com',
    group: 'main',
  },
  api_domain: {
    label: 'Company URL',
    help: 'The address of your Pipedrive account.',
    placeholder: 'https://acme.pipedrive.com',
  },
  base_url: {
    label: 'Base URL',
    help: 'Another server with the same API.',
    placeholder: 'https://models.acme.com/v1',
  },
  'typeform.base_url': {
    label: 'Data center',
    help: 'Only for accounts in the EU.',
    placeholder: 'https://api.eu.typeform.com',
  },
  client_id: { label: 'Client ID', help: 'The ID of your OAuth app.' },
  client_secret: { label: 'Client secret', help: 'The secret of your OAuth app.' },
  database: { label: 'Database', help: 'Used where an action names none.' },
  endpoint: {
    label: 'Endpoint',
    help: 'For a store other than Amazon S3.',
    placeholder: 'https://s3.acme.com',
  },
  'smtp.from': {
    label: 'From',
    help: 'The sender of the emails.',
    placeholder: 'sales@acme.com',
    group: 'main',
  },
  instance_url: {
    label: 'Instance URL',
    help: 'The address of your Salesforce organization.',
    placeholder: 'https://acme.my.salesforce.com',
  },
  key: { label: 'Key', help: 'The first part of the API key.' },
  refresh_token: { label: 'Refresh token', help: 'Renews access without signing in again.' },
  region: { label: 'Region', help: 'Where the bucket is.', placeholder: 'us-east-1' },
  role: { label: 'Role', help: 'Used where an action names none.' },
  schema: { label: 'Schema', help: 'Used where an action names none.' },
  session_token: { label: 'Session token', help: 'Only for temporary credentials.' },
  url: {
    label: 'Server URL',
    help: 'The address of the mail server, if it needs no password.',
    placeholder: 'smtp://mail.acme.com:25',
  },
  warehouse: { label: 'Warehouse', help: 'Used where an action names none.' },
  'postgres.secret': {
    label: 'Secret',
    help: 'The address of the database, with user name and password.',
    placeholder: 'postgres://user:password@db.acme.com:5432/leads',
  },
  's3.secret': { label: 'Secret', help: 'The secret access key.' },
  'smtp.secret': {
    label: 'Secret',
    help: 'The address of the mail server, with user name and password.',
    placeholder: 'smtps://user:password@mail.acme.com:465',
    group: 'main',
  },
  'webhook.secret': { label: 'Secret', help: 'Signs each delivery, so that receivers can trust it.' },
}

/** Returns the words for people of a field of a connection. Fields that are needed are in the main group. */
function findWords({ id, name, auth, fields }: Provider, field: string): FieldWords {
  const found =
    WORDS[`${id}.${field}`] ?? WORDS[field] ?? (field === 'secret' ? wordsOfSecret(name, auth) : null)
  if (found === null) throw new Error(`the field ${field} of ${id} has no words in credential-words.ts`)
  const isNeeded = fields.sets.some((set) => set.includes(field))
  const { label, help, placeholder = null, group = isNeeded ? 'main' : 'advanced' } = found
  return { label, help, placeholder, group }
}

function wordsOfSecret(name: string, { kind }: Provider['auth']): Words {
  const what =
    kind === 'oauth' ? 'An access token' : kind === 'pair' ? 'The second part of the API key' : 'The API key'
  return { label: 'Secret', help: `${what} of your ${name} account.` }
}

/** Lists the fields of a provider's connections with their words: those that it needs first. */
export function listCredentialFields(provider: Provider): ({ name: string } & FieldWords)[] {
  const { sets, others } = provider.fields
  const names = new Set([...sets.flat(), ...others])
  return [...names].map((name) => ({ name, ...findWords(provider, name) }))
}
