import { crustdataCompanyDomain } from '../../providers/crustdata/company-domain.ts'
import { datagmaCompanyDomain } from '../../providers/datagma/company-domain.ts'
import { datagmaCompany } from '../../providers/datagma/company.ts'
import { findymailCompanyDomain } from '../../providers/findymail/company-domain.ts'
import { findymailCompany } from '../../providers/findymail/company.ts'
import { hunterCompany } from '../../providers/hunter/company.ts'
import { leadmagicCompany } from '../../providers/leadmagic/company.ts'
import { peopledatalabsCompanyDomain } from '../../providers/peopledatalabs/company-domain.ts'
import { rocketreachCompanyDomain } from '../../providers/rocketreach/company-domain.ts'
import { rocketreachCompany } from '../../providers/rocketreach/company.ts'
import { surfeCompany } from '../../providers/surfe/company.ts'
import { wizaCompany } from '../../providers/wiza/company.ts'
import { caseOf } from './case.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const KEY = { 'x-api-key': 'k-0123456789-secret' }
const ACME = { domain: 'acme.com', name: 'Acme', linkedin_url: '' }
const NAMED = { ...ACME, domain: '' }
const PAGE = 'https://www.linkedin.com/company/acme'
const one = (json: unknown) => [{ json }]
const missing = { replies: [{ status: 404, json: { message: 'not found' } }] }
const DATAGMA = {
  badKey: { json: { code: 16, message: 'Invalid API key' } },
  quota: { json: { code: 13, message: 'Not enough credits' } },
}
const started = { status: 202, json: { enrichmentID: 'e-1' } }

export const COMPANY_RECORDS = [
  caseOf(hunterCompany, ACME, {
    asks: { at: 'GET /v2/companies/find', headers: KEY, query: { domain: 'acme.com' } },
    hit: {
      replies: one({
        data: {
          name: 'Acme',
          domain: 'acme.com',
          description: 'Tools.',
          category: { industry: 'Machinery', sector: 'Industrials' },
          metrics: { employees: '51-200', employeesRange: '51-200', annualRevenue: null },
          foundedYear: 1949,
          location: 'Fairfield, United States',
          linkedin: { handle: 'company/acme' },
        },
      }),
      value: {
        name: 'Acme',
        domain: 'acme.com',
        industry: 'Machinery',
        employees: null,
        founded: 1949,
        hq: 'Fairfield, United States',
        linkedin_url: PAGE,
      },
    },
    nothing: [
      missing,
      { replies: one({ data: null }) },
      {
        replies: [{ status: 400, json: { errors: [{ id: 'invalid_domain' }] } }],
        found: { kind: 'ineligible' },
      },
    ],
    quota: { status: 429, json: { errors: [{ id: 'usage_limit' }] } },
  }),
  caseOf(leadmagicCompany, NAMED, {
    asks: { at: 'POST /v1/companies/company-search', headers: KEY, json: { company_name: 'Acme' } },
    hit: {
      replies: one({
        companyName: 'Acme',
        industry: 'Tools',
        employeeCount: 120,
        founded: 1949,
        headquarters: { city: 'Berlin', country: 'Germany' },
        revenue: '$1M-$5M',
        b2b_profile_url: 'linkedin.com/company/acme',
        credits_consumed: 1,
      }),
      value: {
        name: 'Acme',
        domain: null,
        employees: 120,
        revenue_range: '$1M-$5M',
        hq: 'Berlin, Germany',
        linkedin_url: 'https://linkedin.com/company/acme',
      },
    },
    nothing: [missing, { replies: one({ companyName: null, message: 'Company not found.' }) }],
  }),
  caseOf(datagmaCompany, ACME, {
    asks: {
      at: 'GET /api/ingress/v2/full',
      query: { apiId: 'k-0123456789-secret', data: 'acme.com' },
    },
    hit: {
      replies: one({
        company: {
          name: 'Acme',
          website: 'http://www.acme.com',
          industries: 'Tools',
          companySize: '51-200',
          founded: '1949',
          shortDescription: 'Tools.',
          revenueRange: '1M-5M',
          headquarters: 'Berlin',
        },
      }),
      value: { name: 'Acme', domain: 'acme.com', industry: 'Tools', employees: null, founded: 1949 },
    },
    nothing: [
      { replies: one({ code: 5, message: 'No data found' }) },
      { replies: one({ company: { name: null } }) },
      { replies: one({ name: 'Acme' }), found: { kind: 'hit', value: { name: 'Acme' } } },
    ],
    ...DATAGMA,
  }),
  caseOf(wizaCompany, ACME, {
    asks: { at: 'POST /api/company_enrichments', headers: BEARER, json: { company_domain: 'acme.com' } },
    hit: {
      replies: one({
        status: { code: 200 },
        data: {
          company_name: 'Acme',
          company_domain: 'acme.com',
          company_industry: 'Tools',
          company_size: '1,200',
          company_founded: 1949,
          company_revenue_range: '$1M - $5M',
          company_location: 'Berlin, Germany',
          company_linkedin: 'linkedin.com/company/acme',
        },
      }),
      value: { name: 'Acme', domain: 'acme.com', employees: 1200, founded: 1949, hq: 'Berlin, Germany' },
    },
    nothing: [missing, { replies: one({ data: null }) }, { replies: one({ data: { company_name: null } }) }],
  }),
  caseOf(rocketreachCompany, ACME, {
    asks: {
      at: 'GET /api/v2/company/lookup/',
      headers: { 'api-key': 'k-0123456789-secret' },
      query: { domain: 'acme.com' },
    },
    hit: {
      replies: one({
        id: 1,
        name: 'Acme',
        domain: 'acme.com',
        website_domain: null,
        num_employees: 120,
        revenue: 5_000_000,
        year_founded: 1949,
        industries: ['Tools'],
        ticker_symbol: 'ACME',
        address: { city: 'Berlin', region: 'Berlin', country: 'DE' },
        links: { linkedin: PAGE },
      }),
      value: {
        name: 'Acme',
        domain: 'acme.com',
        industry: 'Tools',
        employees: 120,
        revenue_range: '5000000',
        hq: 'Berlin, Berlin, DE',
        ticker: 'ACME',
        linkedin_url: PAGE,
      },
    },
    nothing: [missing],
  }),
  caseOf(surfeCompany, ACME, {
    asks: {
      at: 'POST /v2/companies/enrich',
      headers: BEARER,
      json: { companies: [{ domain: 'acme.com' }] },
      next: { at: 'GET /v2/companies/enrich/e-1' },
    },
    hit: {
      replies: [
        started,
        { json: { status: 'IN_PROGRESS', percentCompleted: 0 } },
        {
          json: {
            status: 'COMPLETED',
            companies: [
              {
                name: 'Acme',
                websites: ['acme.com'],
                founded: '1949',
                revenue: '10-50M',
                employeeCount: 65,
                industry: 'Tools',
                hqCountry: 'DE',
                linkedInURL: 'https://linkedin.com/company/acme',
              },
            ],
          },
        },
      ],
      value: { name: 'Acme', domain: 'acme.com', founded: 1949, employees: 65, hq: 'DE' },
    },
    nothing: [
      { replies: [started, { json: { status: 'COMPLETED', companies: [] } }] },
      { replies: [started, { json: { status: 'FAILED' } }] },
    ],
    quota: { status: 403, json: { message: 'quota exceeded' } },
  }),
  caseOf(findymailCompany, ACME, {
    asks: { at: 'POST /api/search/company', headers: BEARER, json: { domain: 'acme.com' } },
    hit: {
      replies: one({ name: 'Acme', domain: 'acme.com', company_size: '51-200', industry: 'Tools' }),
      value: { name: 'Acme', domain: 'acme.com', employees: null, industry: 'Tools' },
    },
    nothing: [missing, { replies: one({ name: null }) }],
    quota: { status: 423, json: { error: 'Subscription is paused' } },
  }),
  caseOf(peopledatalabsCompanyDomain, NAMED, {
    asks: { at: 'GET /v5/company/enrich', headers: KEY, query: { name: 'Acme', required: 'website' } },
    hit: { replies: one({ status: 200, name: 'acme', website: 'acme.com' }), value: { domain: 'acme.com' } },
    nothing: [missing, { replies: one({ status: 200, name: 'acme', website: null }) }],
  }),
  caseOf(datagmaCompanyDomain, NAMED, {
    asks: { at: 'GET /api/ingress/v2/full', query: { data: 'Acme' } },
    hit: {
      replies: one({ company: { name: 'Acme', website: 'https://www.acme.com/en' } }),
      value: { domain: 'acme.com' },
    },
    nothing: [
      { replies: one({ company: { name: 'Acme', website: '' } }) },
      { replies: one({ code: 5, message: 'No data found' }) },
      { replies: one({ company: { name: 'Acme', website: 'nowhere' } }) },
    ],
    ...DATAGMA,
  }),
  caseOf(findymailCompanyDomain, NAMED, {
    asks: { at: 'POST /api/search/company', headers: BEARER, json: { name: 'Acme' } },
    hit: { replies: one({ name: 'Acme', domain: 'acme.com' }), value: { domain: 'acme.com' } },
    nothing: [missing, { replies: one({ name: 'Acme', domain: null }) }],
    quota: { status: 423, json: { error: 'Subscription is paused' } },
  }),
  caseOf(crustdataCompanyDomain, NAMED, {
    asks: { at: 'POST /company/enrich', headers: BEARER, json: { names: ['Acme'] } },
    hit: {
      replies: one([
        { matches: [{ company_data: { basic_info: { name: 'Acme', primary_domain: 'acme.com' } } }] },
      ]),
      value: { domain: 'acme.com' },
    },
    nothing: [
      { replies: one([{ matches: [] }]) },
      { replies: one([{ matches: [{ company_data: { basic_info: { name: 'Acme' } } }] }]) },
    ],
    quota: { status: 403, json: { error: 'Insufficient credits' } },
  }),
  caseOf(rocketreachCompanyDomain, NAMED, {
    asks: { at: 'GET /api/v2/company/lookup/', query: { name: 'Acme' } },
    hit: { replies: one({ id: 1, name: 'Acme', website_domain: 'acme.com' }), value: { domain: 'acme.com' } },
    nothing: [missing, { replies: one({ id: 1, name: 'Acme' }) }],
  }),
]
