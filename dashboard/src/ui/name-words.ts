/** Words of field names that are not written like other words. */
const SPECIAL: Readonly<Record<string, string>> = {
  api: 'API',
  crm: 'CRM',
  csv: 'CSV',
  hubspot: 'HubSpot',
  id: 'ID',
  linkedin: 'LinkedIn',
  url: 'URL',
  x: 'X',
}

/** Returns a name of the API in words: `linkedin_url` as `LinkedIn URL`. A name that is written otherwise stays. */
export function nameWords(name: string): string {
  if (!/^[a-z0-9]+([_-][a-z0-9]+)*$/.test(name)) return name
  const words = name.split(/[_-]/).map((word) => SPECIAL[word] ?? word)
  const text = words.join(' ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
