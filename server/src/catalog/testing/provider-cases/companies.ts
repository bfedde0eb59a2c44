import { apifyLinkedinCompany } from '../../providers/apify/linkedin-company.ts'
import { blitzHeadcount } from '../../providers/blitz/headcount.ts'
import { builtwithTechnologies } from '../../providers/builtwith/technologies.ts'
import { exploriumCompany } from '../../providers/explorium/company.ts'
import { exploriumHeadcount } from '../../providers/explorium/headcount.ts'
import { COUNTRIES, DEPARTMENTS } from '../../providers/explorium/stats-filters.ts'
import { theirstackTechnologies } from '../../providers/theirstack/technologies.ts'
import { caseOf } from './case.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const ACME = { domain: 'acme.com', name: 'Acme', linkedin_url: '' }
const PAGE = { linkedin_url: 'https://www.linkedin.com/company/acme' }
const one = (json: unknown) => [{ json }]
const matched = { json: { matched_businesses: [{ input: {}, business_id: 'b-1' }], total_matches: 1 } }
const unmatched = { replies: one({ matched_businesses: [{ business_id: null }], total_matches: 0 }) }
const MATCH = {
  at: 'POST /v1/businesses/match',
  headers: { api_key: 'k-0123456789-secret' },
  json: { businesses_to_match: [{ domain: 'acme.com', name: 'Acme' }] },
}
const onPage = { json: { found: true, company_linkedin_url: PAGE.linkedin_url } }
const noCredits = { status: 403, json: { details: 'Insufficient credits for this request' } }
const COUNT = {
  ...MATCH,
  next: {
    at: 'POST /v1/prospects/stats',
    json: {
      filters: {
        business_id: { values: ['b-1'] },
        job_department: { values: DEPARTMENTS },
        country_code: { values: COUNTRIES },
      },
    },
  },
}
const COUNTED = {
  total_results: 40,
  stats: {
    job_departments_per_location: {
      engineering: { Germany: 20, France: 5, total: 25 },
      sales: { Germany: 10, France: 5, total: 15 },
      legal: { total: 0 },
      total_per_location: { Germany: 30, France: 10, total: 40 },
    },
  },
}

export const COMPANIES = [
  caseOf(exploriumCompany, ACME, {
    asks: {
      ...MATCH,
      next: { at: 'POST /v1/businesses/firmographics/enrich', json: { business_id: 'b-1' } },
    },
    hit: {
      replies: [
        matched,
        {
          json: {
            data: {
              name: 'Acme',
              website: 'https://www.acme.com',
              business_description: 'Tools.',
              linkedin_industry_category: 'tools',
              number_of_employees_range: '51-200',
              yearly_revenue_range: '1M-5M',
              city_name: 'berlin',
              country_name: 'germany',
              linkedin_profile: 'linkedin.com/company/acme',
            },
          },
        },
      ],
      value: {
        name: 'Acme',
        domain: 'acme.com',
        employees: null,
        revenue_range: '1M-5M',
        hq: 'berlin, germany',
        linkedin_url: 'https://linkedin.com/company/acme',
      },
    },
    nothing: [unmatched, { replies: [matched, { json: { data: {} } }] }],
    quota: noCredits,
  }),
  caseOf(
    exploriumHeadcount,
    { ...ACME, by: 'country' },
    {
      asks: COUNT,
      hit: {
        replies: [matched, { json: COUNTED }],
        value: {
          company_headcount: 40,
          breakdown: [
            { name: 'Germany', employees: 30, percent: 75 },
            { name: 'France', employees: 10, percent: 25 },
          ],
        },
      },
      nothing: [
        unmatched,
        { replies: [matched, { json: { total_results: 0, stats: {} } }] },
        {
          replies: [matched, { json: { total_results: 4, stats: {} } }],
          found: { kind: 'hit', verified: false, value: { company_headcount: 4, breakdown: [] } },
        },
      ],
      quota: noCredits,
    },
  ),
  caseOf(
    exploriumHeadcount,
    { ...ACME, by: 'job_role' },
    {
      asks: COUNT,
      hit: {
        replies: [matched, { json: COUNTED }],
        value: {
          company_headcount: 40,
          breakdown: [
            { name: 'engineering', employees: 25, percent: 62.5 },
            { name: 'sales', employees: 15, percent: 37.5 },
          ],
        },
      },
      nothing: [unmatched],
      quota: noCredits,
    },
  ),
  caseOf(
    blitzHeadcount,
    { ...ACME, by: 'job_role' },
    {
      asks: {
        at: 'POST /v2/enrichment/domain-to-linkedin',
        headers: { 'x-api-key': 'k-0123456789-secret' },
        json: { domain: 'acme.com' },
        next: {
          at: 'POST /v2/enrichment/company-distribution-by-department',
          json: { company_linkedin_url: PAGE.linkedin_url },
        },
      },
      hit: {
        replies: [
          onPage,
          {
            json: {
              total_employees: 120,
              distribution: [
                { department: 'Engineering', count: 90, percentage_ratio: 75 },
                { department: 'Other', count: 30, percentage_ratio: 25 },
              ],
            },
          },
        ],
        value: {
          company_headcount: 120,
          breakdown: [
            { name: 'Engineering', employees: 90, percent: 75 },
            { name: 'Other', employees: 30, percent: 25 },
          ],
        },
      },
      nothing: [
        { replies: one({ found: false }) },
        { replies: [onPage, { json: { total_employees: 0, distribution: [] } }] },
        { replies: [onPage, { status: 404, json: { message: 'not found' } }] },
      ],
    },
  ),
  caseOf(
    blitzHeadcount,
    { ...PAGE, domain: '', name: '', by: 'country' },
    {
      asks: {
        at: 'POST /v2/enrichment/company-distribution-by-country',
        json: { company_linkedin_url: PAGE.linkedin_url },
      },
      hit: {
        replies: one({
          total_employees: 3,
          distribution: [
            { country: 'US', count: 2 },
            { country: 'unknown', count: 1 },
          ],
        }),
        value: {
          company_headcount: 3,
          breakdown: [
            { name: 'US', employees: 2, percent: null },
            { name: 'unknown', employees: 1, percent: null },
          ],
        },
      },
      nothing: [{ replies: one({ total_employees: 0, distribution: null }) }],
    },
  ),
  caseOf(
    builtwithTechnologies,
    { domain: 'acme.com' },
    {
      asks: { at: 'GET /v22/api.json', query: { KEY: 'k-0123456789-secret', LOOKUP: 'acme.com' } },
      hit: {
        replies: one({
          Results: [
            {
              Lookup: 'acme.com',
              Result: {
                Paths: [
                  {
                    Domain: 'acme.com',
                    Technologies: [
                      {
                        Name: 'Shopify',
                        Tag: 'shop',
                        Categories: ['Hosted Solution'],
                        FirstDetected: 1_700_000_000_000,
                        LastDetected: 1_750_000_000_000,
                      },
                      { Name: 'nginx', Tag: 'Web Server', Categories: null },
                    ],
                  },
                  { Domain: 'acme.com', Technologies: [{ Name: 'nginx', Tag: 'Web Server' }] },
                ],
              },
            },
          ],
          Errors: [],
        }),
        value: [
          {
            name: 'Shopify',
            category: 'Hosted Solution',
            evidence: null,
            first_seen: '2023-11-14',
            last_seen: '2025-06-15',
          },
          { name: 'nginx', category: 'Web Server', evidence: null, first_seen: null, last_seen: null },
        ],
      },
      nothing: [
        { replies: one({ Results: [], Errors: [] }) },
        { replies: one({ Errors: [{ Message: 'Invalid root', Code: -8 }] }), found: { kind: 'ineligible' } },
        {
          replies: one({ Errors: [{ Message: 'No technology', Code: '-4' }] }),
          found: { kind: 'ineligible' },
        },
        { replies: one({ Errors: [{ Message: 'Upgrade', Code: -5 }] }), found: { kind: 'no_credits' } },
      ],
      badKey: { json: { Errors: [{ Message: 'API Key is incorrect', Code: -2 }] } },
      quota: { json: { Errors: [{ Message: 'Your API credits are used up', Code: -3 }] } },
    },
  ),
  caseOf(
    theirstackTechnologies,
    { domain: 'acme.com' },
    {
      asks: { at: 'POST /v1/companies/technologies', headers: BEARER, json: { company_domain: 'acme.com' } },
      hit: {
        replies: one({
          data: [
            {
              technology: { name: 'Kafka', slug: 'kafka', category: 'Messaging' },
              confidence: 'high',
              jobs: 12,
              first_date_found: '2022-01-01',
              last_date_found: '2024-01-01',
            },
          ],
          metadata: {},
        }),
        value: [
          {
            name: 'Kafka',
            category: 'Messaging',
            evidence: '12 job postings, confidence high',
            first_seen: '2022-01-01',
            last_seen: '2024-01-01',
          },
        ],
      },
      nothing: [{ replies: one({ data: [] }) }],
    },
  ),
  caseOf(apifyLinkedinCompany, PAGE, {
    asks: {
      at: 'POST /v2/acts/harvestapi~linkedin-company/run-sync-get-dataset-items',
      headers: BEARER,
      json: { companies: [PAGE.linkedin_url] },
    },
    hit: {
      replies: [
        {
          status: 201,
          json: [
            {
              name: 'Acme',
              description: 'Tools.',
              employeeCount: 120,
              followerCount: 77,
              foundedOn: { year: 1949 },
              industries: [{ name: 'Tools' }],
              locations: [{ city: 'Paris' }, { headquarter: true, city: 'Berlin', country: 'DE' }],
            },
          ],
        },
      ],
      value: { name: 'Acme', industry: 'Tools', headcount: 120, hq: 'Berlin, DE', founded: 1949 },
    },
    nothing: [{ replies: [{ status: 201, json: [] }] }],
  }),
]
