import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../registry.ts'
import { addTexts } from './warning-texts.ts'

const catalogue = await loadCatalogue()

describe('H1: a warning has a text for people, with labels instead of ids', () => {
  const missing = (field: string) => ({
    field,
    code: 'required_field_missing',
    message: 'this field is required',
  })
  it.each([
    ['http_api_call', missing('inputs.method'), 'Choose a method'],
    ['http_api_call', missing('inputs.endpoint'), 'Enter a URL'],
    ['filter', missing('inputs.path_conditions'), 'Add conditions'],
    ['attio_upsert_record', missing('inputs.object'), 'Choose an object'],
    ['auto_dedupe_rows', missing('inputs.auto_dedupe_columns'), 'Choose columns to compare'],
    [
      'enrich_person',
      { ...missing('inputs'), message: 'needs linkedin_url, or email, or full_name and company_domain' },
      'Enter LinkedIn profile, or Email, or Full name and Company domain',
    ],
    [
      'web_search',
      { field: 'inputs.query', code: 'unresolved_reference', message: '{{input.size}} does not exist' },
      'Search for: there is no column "size"',
    ],
    [
      'web_search',
      { field: 'run_if', code: 'downstream_reference', message: '{{web_search_2.results}} is not there yet' },
      '"results" comes later in the chain',
    ],
    [
      'send_webhook',
      { field: 'inputs.secret', code: 'env_variable_unavailable', message: '{{env.KEY}} has no value here' },
      'Signing secret: the environment variable KEY has no value',
    ],
  ])('%s: %o', (action, warning, text) => {
    expect(addTexts([warning], catalogue.get(action))).toEqual([{ ...warning, text }])
  })
})
