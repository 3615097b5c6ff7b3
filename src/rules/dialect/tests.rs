use super::check;

#[test]
fn what_all_engines_answer_alike_is_accepted() {
    for sql in [
        "SELECT CAST(SUM(a) AS BIGINT) AS a FROM t LEFT JOIN u ON t.x = u.x AND t.y = u.y WHERE a > 0",
        "WITH a AS (SELECT x FROM t) SELECT x FROM a WHERE x IN (SELECT x FROM u)",
        "SELECT CAST(COALESCE(SUM(a), 0) AS BIGINT) AS a, CAST(COUNT(b) AS BIGINT) AS b, 'C:\"x\"' AS c FROM t",
        "SELECT CAST(ROUND(CAST(a AS DOUBLE) / CAST(b AS DOUBLE), 0) AS BIGINT) AS a FROM t",
        "SELECT CAST(CAST(a AS DOUBLE) - CAST(a AS DOUBLE) % CAST(1 AS DOUBLE) AS BIGINT) AS a FROM t",
        "SELECT CAST(SUM(CASE WHEN CAST(a AS DOUBLE) > b THEN 1 ELSE 0 END) AS BIGINT) AS a FROM t",
        "WITH a AS (SELECT x FROM t ORDER BY x DESC NULLS LAST, y ASC NULLS LAST LIMIT 1) SELECT x FROM a",
        "SELECT CAST(SUM(a) OVER (PARTITION BY b) AS BIGINT) AS a FROM t",
        "SELECT CAST(NULL AS STRING) AS a, CAST(b AS INT) AS b, t.using AS c, t.check AS d FROM t",
    ] {
        assert_eq!(check(sql), Ok(()), "{sql}");
    }
}

#[test]
fn what_differs_between_engines_is_refused() {
    for (sql, why) in [
        ("SELECT a FROM t LEFT JOIN u ON t.x = u.x AND t.y > 3", "equalities"),
        ("SELECT a FROM t JOIN u ON t.x = u.x AND u.y = 'z'", "CTE"),
        ("SELECT SUM(a) AS a FROM t", "CAST(SUM"),
        ("SELECT COUNT(a) AS a FROM t", "CAST(COUNT"),
        ("SELECT CAST(a AS DOUBLE) / b AS c FROM t", "both sides"),
        ("SELECT a // b AS c FROM t", "both sides"),
        ("SELECT a * 0.5 AS b FROM t", "decimal"),
        ("SELECT (SELECT MAX(a) AS a FROM t) AS b FROM u", "subquery"),
        ("SELECT a FROM t WHERE EXISTS (SELECT b FROM u)", "EXISTS"),
        ("SELECT a FROM t WHERE a NOT IN (SELECT b FROM u)", "NOT IN"),
        ("SELECT * FROM t", "name every column"),
        ("SELECT t.* FROM t", "name every column"),
        ("SELECT a FROM t ORDER BY a", "NULLS LAST"),
        ("SELECT a FROM t ORDER BY a ASC NULLS LAST, b", "NULLS LAST"),
        ("SELECT a FROM t GROUP BY 1", "position 1"),
        ("SELECT a FROM t LIMIT 3", "LIMIT"),
        ("WITH a AS (SELECT x FROM t ORDER BY x ASC NULLS LAST) SELECT x FROM a LIMIT 3", "LIMIT"),
        ("SELECT median(a) AS m FROM t", "MEDIAN"),
        ("SELECT CAST(SUM(a) OVER (PARTITION BY b ORDER BY c ASC NULLS LAST) AS BIGINT) AS a FROM t", "window"),
        ("WITH RECURSIVE a AS (SELECT x FROM t) SELECT x FROM a", "recursive"),
        ("DELETE FROM t", "SELECT"),
        ("SELECT a FROM t; SELECT b FROM t", "`;`"),
        ("SELECT CAST(a AS VARCHAR) AS a FROM t", "VARCHAR"),
        ("SELECT CAST(a AS FLOAT) AS a FROM t", "FLOAT"),
        ("SELECT CAST(a AS DECIMAL(18, 3)) AS a FROM t", "DECIMAL"),
        ("SELECT a::BIGINT AS a FROM t", "sign :"),
        ("SELECT a ^ 2 AS a FROM t", "sign ^"),
        ("SELECT CAST(CAST(a AS DOUBLE) / CAST(b AS DOUBLE) AS BIGINT) AS c FROM t", "fraction"),
        ("SELECT CAST(a * CAST(1000 AS DOUBLE) AS BIGINT) AS c FROM t", "fraction"),
        ("SELECT \"a b\" AS c FROM t", "quoted names"),
        ("SELECT `a` AS c FROM t", "quoted names"),
        ("SELECT a FROM t WHERE a LIKE '%\\_%'", "backslash"),
        ("SELECT a FROM t JOIN u USING (a)", "USING"),
        ("SELECT a FROM t FULL JOIN u ON t.a = u.a", "FULL"),
        ("SELECT a FROM t EXCEPT SELECT a FROM u", "EXCEPT"),
        ("SELECT a FROM t WHERE a ILIKE 'x'", "ILIKE"),
        ("WITH leading AS (SELECT a FROM t) SELECT a FROM leading", "LEADING"),
        ("SELECT check AS a FROM t", "CHECK"),
    ] {
        let found = check(sql).expect_err(sql);
        assert!(found.contains(why), "{sql}: {found}");
    }
}
