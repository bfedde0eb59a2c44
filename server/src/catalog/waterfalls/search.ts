import { braveSearch } from '../providers/brave/search.ts'
import { exaSearch } from '../providers/exa/search.ts'
import { firecrawlSearch } from '../providers/firecrawl/search.ts'
import { linkupSearch } from '../providers/linkup/search.ts'
import { parallelSearch } from '../providers/parallel/search.ts'
import { perplexitySearch } from '../providers/perplexity/search.ts'
import { searxngSearch } from '../providers/searxng/search.ts'
import { serperSearch } from '../providers/serper/search.ts'
import { tavilySearch } from '../providers/tavily/search.ts'

/** The web search engines, in default order. */
export const SEARCH_ENGINES = [
  searxngSearch,
  serperSearch,
  braveSearch,
  tavilySearch,
  exaSearch,
  perplexitySearch,
  linkupSearch,
  parallelSearch,
  firecrawlSearch,
]
