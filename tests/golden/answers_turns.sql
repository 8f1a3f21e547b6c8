CREATE DATABASE answers_turns;
USE answers_turns;
SET @t = '';

-- Which arguments a call computes, and in which order: each adds its place to @t. First none of them is NULL, then the first, and so on.
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) + IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) + IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) + IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) + IF(@t:=CONCAT(@t,1),2e0,2e0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,NULL) + IF(@t:=CONCAT(@t,1),2e0,2e0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) + IF(@t:=CONCAT(@t,1),2e0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) - IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) - IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) - IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) * IF(@t:=CONCAT(@t,1),2e0,2e0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,NULL) * IF(@t:=CONCAT(@t,1),2e0,2e0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) * IF(@t:=CONCAT(@t,1),2e0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) / IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) / IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) / IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) / IF(@t:=CONCAT(@t,1),2e0,2e0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,NULL) / IF(@t:=CONCAT(@t,1),2e0,2e0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) / IF(@t:=CONCAT(@t,1),2e0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) DIV IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) DIV IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) DIV IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) DIV IF(@t:=CONCAT(@t,1),2e0,2e0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,NULL) DIV IF(@t:=CONCAT(@t,1),2e0,2e0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) DIV IF(@t:=CONCAT(@t,1),2e0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) % IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) % IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) % IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) % IF(@t:=CONCAT(@t,1),2e0,2e0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,NULL) % IF(@t:=CONCAT(@t,1),2e0,2e0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1e0,1e0) % IF(@t:=CONCAT(@t,1),2e0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) & IF(@t:=CONCAT(@t,1),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) & IF(@t:=CONCAT(@t,1),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) & IF(@t:=CONCAT(@t,1),2,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),0,0) AND IF(@t:=CONCAT(@t,2),2,2) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) BETWEEN IF(@t:=CONCAT(@t,1),0,0) AND IF(@t:=CONCAT(@t,2),2,2) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),0,NULL) AND IF(@t:=CONCAT(@t,2),2,2) AS v1, @t AS t1,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),0,0) AND IF(@t:=CONCAT(@t,2),2,NULL) AS v2, @t AS t2;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),2,2) AND IF(@t:=CONCAT(@t,2),3,3) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) BETWEEN IF(@t:=CONCAT(@t,1),2,2) AND IF(@t:=CONCAT(@t,2),3,3) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),2,NULL) AND IF(@t:=CONCAT(@t,2),3,3) AS v1, @t AS t1,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) BETWEEN IF(@t:=CONCAT(@t,1),2,2) AND IF(@t:=CONCAT(@t,2),3,NULL) AS v2, @t AS t2;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) IN (IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) IN (IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) IN (IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),3,3)) AS v1, @t AS t1,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) IN (IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),'a','a') LIKE IF(@t:=CONCAT(@t,1),'b','b') AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),'a',NULL) LIKE IF(@t:=CONCAT(@t,1),'b','b') AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),'a','a') LIKE IF(@t:=CONCAT(@t,1),'b',NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) XOR IF(@t:=CONCAT(@t,1),0,0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) XOR IF(@t:=CONCAT(@t,1),0,0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) XOR IF(@t:=CONCAT(@t,1),0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) AND IF(@t:=CONCAT(@t,1),0,0) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) AND IF(@t:=CONCAT(@t,1),0,0) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) AND IF(@t:=CONCAT(@t,1),0,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),0,0) OR IF(@t:=CONCAT(@t,1),1,1) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),0,NULL) OR IF(@t:=CONCAT(@t,1),1,1) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),0,0) OR IF(@t:=CONCAT(@t,1),1,NULL) AS v1, @t AS t1;
SELECT @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) MEMBER OF (IF(@t:=CONCAT(@t,1),'[1,2]','[1,2]')) AS v, @t AS t,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,NULL) MEMBER OF (IF(@t:=CONCAT(@t,1),'[1,2]','[1,2]')) AS v0, @t AS t0,
  @t:='' AS _, IF(@t:=CONCAT(@t,0),1,1) MEMBER OF (IF(@t:=CONCAT(@t,1),'[1,2]',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, IFNULL(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, IFNULL(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, IFNULL(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, COALESCE(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v, @t AS t,
  @t:='' AS _, COALESCE(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v0, @t AS t0,
  @t:='' AS _, COALESCE(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),3,3)) AS v1, @t AS t1,
  @t:='' AS _, COALESCE(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v, @t AS t,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v0, @t AS t0,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),3,3)) AS v1, @t AS t1,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),'a',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),DATE'2024-01-01',DATE'2024-01-01'), IF(@t:=CONCAT(@t,1),DATE'2024-01-02',DATE'2024-01-02')) AS v, @t AS t,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),DATE'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),DATE'2024-01-02',DATE'2024-01-02')) AS v0, @t AS t0,
  @t:='' AS _, GREATEST(IF(@t:=CONCAT(@t,0),DATE'2024-01-01',DATE'2024-01-01'), IF(@t:=CONCAT(@t,1),DATE'2024-01-02',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, INTERVAL(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),1,1), IF(@t:=CONCAT(@t,2),3,3)) AS v, @t AS t,
  @t:='' AS _, INTERVAL(IF(@t:=CONCAT(@t,0),2,NULL), IF(@t:=CONCAT(@t,1),1,1), IF(@t:=CONCAT(@t,2),3,3)) AS v0, @t AS t0,
  @t:='' AS _, INTERVAL(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),1,NULL), IF(@t:=CONCAT(@t,2),3,3)) AS v1, @t AS t1,
  @t:='' AS _, INTERVAL(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),1,1), IF(@t:=CONCAT(@t,2),3,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, ATAN2(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, ATAN2(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, ATAN2(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, ATAN(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, ATAN(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, ATAN(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),3,3)) AS v, @t AS t,
  @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),2,NULL), IF(@t:=CONCAT(@t,1),3,3)) AS v0, @t AS t0,
  @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),3,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),3,3)) AS v, @t AS t,
  @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),3,3)) AS v0, @t AS t0,
  @t:='' AS _, LOG(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),3,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, MOD(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, MOD(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, MOD(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, POW(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, POW(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, POW(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, ROUND(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, ROUND(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, ROUND(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TRUNCATE(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, TRUNCATE(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, TRUNCATE(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, CONV(IF(@t:=CONCAT(@t,0),'11','11'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),10,10)) AS v, @t AS t,
  @t:='' AS _, CONV(IF(@t:=CONCAT(@t,0),'11',NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),10,10)) AS v0, @t AS t0,
  @t:='' AS _, CONV(IF(@t:=CONCAT(@t,0),'11','11'), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),10,10)) AS v1, @t AS t1,
  @t:='' AS _, CONV(IF(@t:=CONCAT(@t,0),'11','11'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),10,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,1.5), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,1.5), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,1.5), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),'de_DE','de_DE')) AS v, @t AS t,
  @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),'de_DE','de_DE')) AS v0, @t AS t0,
  @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,1.5), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),'de_DE','de_DE')) AS v1, @t AS t1,
  @t:='' AS _, FORMAT(IF(@t:=CONCAT(@t,0),1.5,1.5), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),'de_DE',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, CHAR(IF(@t:=CONCAT(@t,0),65,65), IF(@t:=CONCAT(@t,1),66,66)) AS v, @t AS t,
  @t:='' AS _, CHAR(IF(@t:=CONCAT(@t,0),65,NULL), IF(@t:=CONCAT(@t,1),66,66)) AS v0, @t AS t0,
  @t:='' AS _, CHAR(IF(@t:=CONCAT(@t,0),65,65), IF(@t:=CONCAT(@t,1),66,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, CONCAT(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, CONCAT(IF(@t:=CONCAT(@t,0),'a',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, CONCAT(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, CONCAT(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, CONCAT_WS(IF(@t:=CONCAT(@t,0),',',','), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, CONCAT_WS(IF(@t:=CONCAT(@t,0),',',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, CONCAT_WS(IF(@t:=CONCAT(@t,0),',',','), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, CONCAT_WS(IF(@t:=CONCAT(@t,0),',',','), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),2,NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, ELT(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v, @t AS t,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,3)) AS v0, @t AS t0,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),3,3)) AS v1, @t AS t1,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),3,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v, @t AS t,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),'b',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c','c')) AS v0, @t AS t0,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'c','c')) AS v1, @t AS t1,
  @t:='' AS _, FIELD(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'c',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v, @t AS t,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a',NULL), IF(@t:=CONCAT(@t,2),'b','b')) AS v1, @t AS t1,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v, @t AS t,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),2,NULL), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'a',NULL), IF(@t:=CONCAT(@t,2),'b','b')) AS v1, @t AS t1,
  @t:='' AS _, MAKE_SET(IF(@t:=CONCAT(@t,0),2,2), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v, @t AS t,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a',NULL), IF(@t:=CONCAT(@t,2),'b','b')) AS v1, @t AS t1,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',',')) AS v, @t AS t,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',',')) AS v0, @t AS t0,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a',NULL), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',',')) AS v1, @t AS t1,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b',NULL), IF(@t:=CONCAT(@t,3),',',',')) AS v2, @t AS t2,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',','), IF(@t:=CONCAT(@t,4),4,4)) AS v, @t AS t,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,NULL), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',','), IF(@t:=CONCAT(@t,4),4,4)) AS v0, @t AS t0,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a',NULL), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',','), IF(@t:=CONCAT(@t,4),4,4)) AS v1, @t AS t1,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b',NULL), IF(@t:=CONCAT(@t,3),',',','), IF(@t:=CONCAT(@t,4),4,4)) AS v2, @t AS t2,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',NULL), IF(@t:=CONCAT(@t,4),4,4)) AS v3, @t AS t3,
  @t:='' AS _, EXPORT_SET(IF(@t:=CONCAT(@t,0),3,3), IF(@t:=CONCAT(@t,1),'a','a'), IF(@t:=CONCAT(@t,2),'b','b'), IF(@t:=CONCAT(@t,3),',',','), IF(@t:=CONCAT(@t,4),4,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, INSERT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),'x','x')) AS v, @t AS t,
  @t:='' AS _, INSERT(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),'x','x')) AS v0, @t AS t0,
  @t:='' AS _, INSERT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),'x','x')) AS v1, @t AS t1,
  @t:='' AS _, INSERT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),'x','x')) AS v2, @t AS t2,
  @t:='' AS _, INSERT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),'x',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b')) AS v, @t AS t,
  @t:='' AS _, INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'abc','abc')) AS v, @t AS t,
  @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b',NULL), IF(@t:=CONCAT(@t,1),'abc','abc')) AS v0, @t AS t0,
  @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'abc',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'abc','abc'), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b',NULL), IF(@t:=CONCAT(@t,1),'abc','abc'), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'abc',NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, LOCATE(IF(@t:=CONCAT(@t,0),'b','b'), IF(@t:=CONCAT(@t,1),'abc','abc'), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, POSITION(IF(@t:=CONCAT(@t,0),'b','b') IN IF(@t:=CONCAT(@t,1),'abc','abc')) AS v, @t AS t,
  @t:='' AS _, POSITION(IF(@t:=CONCAT(@t,0),'b',NULL) IN IF(@t:=CONCAT(@t,1),'abc','abc')) AS v0, @t AS t0,
  @t:='' AS _, POSITION(IF(@t:=CONCAT(@t,0),'b','b') IN IF(@t:=CONCAT(@t,1),'abc',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, LEFT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, LEFT(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, LEFT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, RIGHT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, RIGHT(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, RIGHT(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, SUBSTRING(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, MID(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, MID(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, MID(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, MID(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),2,2), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, SUBSTRING_INDEX(IF(@t:=CONCAT(@t,0),'a.b','a.b'), IF(@t:=CONCAT(@t,1),'.','.'), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, SUBSTRING_INDEX(IF(@t:=CONCAT(@t,0),'a.b',NULL), IF(@t:=CONCAT(@t,1),'.','.'), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, SUBSTRING_INDEX(IF(@t:=CONCAT(@t,0),'a.b','a.b'), IF(@t:=CONCAT(@t,1),'.',NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, SUBSTRING_INDEX(IF(@t:=CONCAT(@t,0),'a.b','a.b'), IF(@t:=CONCAT(@t,1),'.','.'), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, LPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x','x')) AS v, @t AS t,
  @t:='' AS _, LPAD(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x','x')) AS v0, @t AS t0,
  @t:='' AS _, LPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,NULL), IF(@t:=CONCAT(@t,2),'x','x')) AS v1, @t AS t1,
  @t:='' AS _, LPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, RPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x','x')) AS v, @t AS t,
  @t:='' AS _, RPAD(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x','x')) AS v0, @t AS t0,
  @t:='' AS _, RPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,NULL), IF(@t:=CONCAT(@t,2),'x','x')) AS v1, @t AS t1,
  @t:='' AS _, RPAD(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),5,5), IF(@t:=CONCAT(@t,2),'x',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, TRIM(BOTH IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v, @t AS t,
  @t:='' AS _, TRIM(BOTH IF(@t:=CONCAT(@t,0),'a',NULL) FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v0, @t AS t0,
  @t:='' AS _, TRIM(BOTH IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TRIM(LEADING IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v, @t AS t,
  @t:='' AS _, TRIM(LEADING IF(@t:=CONCAT(@t,0),'a',NULL) FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v0, @t AS t0,
  @t:='' AS _, TRIM(LEADING IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TRIM(TRAILING IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v, @t AS t,
  @t:='' AS _, TRIM(TRAILING IF(@t:=CONCAT(@t,0),'a',NULL) FROM IF(@t:=CONCAT(@t,1),'abca','abca')) AS v0, @t AS t0,
  @t:='' AS _, TRIM(TRAILING IF(@t:=CONCAT(@t,0),'a','a') FROM IF(@t:=CONCAT(@t,1),'abca',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REPEAT(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),3,3)) AS v, @t AS t,
  @t:='' AS _, REPEAT(IF(@t:=CONCAT(@t,0),'a',NULL), IF(@t:=CONCAT(@t,1),3,3)) AS v0, @t AS t0,
  @t:='' AS _, REPEAT(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),3,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x')) AS v, @t AS t,
  @t:='' AS _, REPLACE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x')) AS v0, @t AS t0,
  @t:='' AS _, REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'x','x')) AS v1, @t AS t1,
  @t:='' AS _, REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, STRCMP(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b','b')) AS v, @t AS t,
  @t:='' AS _, STRCMP(IF(@t:=CONCAT(@t,0),'a',NULL), IF(@t:=CONCAT(@t,1),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, STRCMP(IF(@t:=CONCAT(@t,0),'a','a'), IF(@t:=CONCAT(@t,1),'b',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b')) AS v, @t AS t,
  @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'i','i')) AS v, @t AS t,
  @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'i','i')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'i','i')) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_LIKE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'i',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b')) AS v, @t AS t,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),1,1)) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0)) AS v, @t AS t,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0)) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,NULL), IF(@t:=CONCAT(@t,4),0,0)) AS v3, @t AS t3,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i','i')) AS v, @t AS t,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i','i')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i','i')) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i','i')) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,NULL), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i','i')) AS v3, @t AS t3,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,NULL), IF(@t:=CONCAT(@t,5),'i','i')) AS v4, @t AS t4,
  @t:='' AS _, REGEXP_INSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),0,0), IF(@t:=CONCAT(@t,5),'i',NULL)) AS v5, @t AS t5;
SELECT @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x')) AS v, @t AS t,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'x','x')) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x',NULL), IF(@t:=CONCAT(@t,3),1,1)) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x',NULL), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1)) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,NULL), IF(@t:=CONCAT(@t,4),1,1)) AS v3, @t AS t3,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i','i')) AS v, @t AS t,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i','i')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i','i')) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x',NULL), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i','i')) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,NULL), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i','i')) AS v3, @t AS t3,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,NULL), IF(@t:=CONCAT(@t,5),'i','i')) AS v4, @t AS t4,
  @t:='' AS _, REGEXP_REPLACE(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),'x','x'), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),1,1), IF(@t:=CONCAT(@t,5),'i',NULL)) AS v5, @t AS t5;
SELECT @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b')) AS v, @t AS t,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v, @t AS t,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1)) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),1,1)) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),'i','i')) AS v, @t AS t,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc',NULL), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),'i','i')) AS v0, @t AS t0,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b',NULL), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),'i','i')) AS v1, @t AS t1,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,NULL), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),'i','i')) AS v2, @t AS t2,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,NULL), IF(@t:=CONCAT(@t,4),'i','i')) AS v3, @t AS t3,
  @t:='' AS _, REGEXP_SUBSTR(IF(@t:=CONCAT(@t,0),'abc','abc'), IF(@t:=CONCAT(@t,1),'b','b'), IF(@t:=CONCAT(@t,2),1,1), IF(@t:=CONCAT(@t,3),1,1), IF(@t:=CONCAT(@t,4),'i',NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_ARRAY(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY(IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY(IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_OBJECT('a', IF(@t:=CONCAT(@t,0),1,1), 'b', IF(@t:=CONCAT(@t,1),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_OBJECT('a', IF(@t:=CONCAT(@t,0),1,NULL), 'b', IF(@t:=CONCAT(@t,1),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_OBJECT('a', IF(@t:=CONCAT(@t,0),1,1), 'b', IF(@t:=CONCAT(@t,1),2,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_LENGTH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_LENGTH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_LENGTH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_KEYS(IF(@t:=CONCAT(@t,0),'{"a":{"b":1}}','{"a":{"b":1}}'), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_KEYS(IF(@t:=CONCAT(@t,0),'{"a":{"b":1}}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_KEYS(IF(@t:=CONCAT(@t,0),'{"a":{"b":1}}','{"a":{"b":1}}'), IF(@t:=CONCAT(@t,1),'$.a',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v, @t AS t,
  @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v0, @t AS t0,
  @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v1, @t AS t1,
  @t:='' AS _, JSON_EXTRACT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'[1,2]','[1,2]'), IF(@t:=CONCAT(@t,1),'1','1')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'[1,2]',NULL), IF(@t:=CONCAT(@t,1),'1','1')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'[1,2]','[1,2]'), IF(@t:=CONCAT(@t,1),'1',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'1','1'), IF(@t:=CONCAT(@t,2),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'1','1'), IF(@t:=CONCAT(@t,2),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'1',NULL), IF(@t:=CONCAT(@t,2),'$.a','$.a')) AS v1, @t AS t1,
  @t:='' AS _, JSON_CONTAINS(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'1','1'), IF(@t:=CONCAT(@t,2),'$.a',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one',NULL), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v1, @t AS t1,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.b',NULL), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v2, @t AS t2,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one',NULL), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v1, @t AS t1,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.a',NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v2, @t AS t2,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all',NULL), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v1, @t AS t1,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.a',NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b')) AS v2, @t AS t2,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.a','$.a'), IF(@t:=CONCAT(@t,3),'$.b',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all',NULL), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v1, @t AS t1,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.b',NULL), IF(@t:=CONCAT(@t,3),'$.a','$.a')) AS v2, @t AS t2,
  @t:='' AS _, JSON_CONTAINS_PATH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'all','all'), IF(@t:=CONCAT(@t,2),'$.b','$.b'), IF(@t:=CONCAT(@t,3),'$.a',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, JSON_OVERLAPS(IF(@t:=CONCAT(@t,0),'[1,2]','[1,2]'), IF(@t:=CONCAT(@t,1),'[2]','[2]')) AS v, @t AS t,
  @t:='' AS _, JSON_OVERLAPS(IF(@t:=CONCAT(@t,0),'[1,2]',NULL), IF(@t:=CONCAT(@t,1),'[2]','[2]')) AS v0, @t AS t0,
  @t:='' AS _, JSON_OVERLAPS(IF(@t:=CONCAT(@t,0),'[1,2]','[1,2]'), IF(@t:=CONCAT(@t,1),'[2]',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a')) AS v, @t AS t,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]',NULL), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one',NULL), IF(@t:=CONCAT(@t,2),'a','a')) AS v1, @t AS t1,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]')) AS v, @t AS t,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]',NULL), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]')) AS v0, @t AS t0,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one',NULL), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]')) AS v1, @t AS t1,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a',NULL), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]')) AS v2, @t AS t2,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]',NULL)) AS v3, @t AS t3;
SELECT @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]'), IF(@t:=CONCAT(@t,4),'$[1]','$[1]')) AS v, @t AS t,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]',NULL), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]'), IF(@t:=CONCAT(@t,4),'$[1]','$[1]')) AS v0, @t AS t0,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one',NULL), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]'), IF(@t:=CONCAT(@t,4),'$[1]','$[1]')) AS v1, @t AS t1,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a',NULL), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]'), IF(@t:=CONCAT(@t,4),'$[1]','$[1]')) AS v2, @t AS t2,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]',NULL), IF(@t:=CONCAT(@t,4),'$[1]','$[1]')) AS v3, @t AS t3,
  @t:='' AS _, JSON_SEARCH(IF(@t:=CONCAT(@t,0),'["a"]','["a"]'), IF(@t:=CONCAT(@t,1),'one','one'), IF(@t:=CONCAT(@t,2),'a','a'), NULL, IF(@t:=CONCAT(@t,3),'$[0]','$[0]'), IF(@t:=CONCAT(@t,4),'$[1]',NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_SET(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.c','$.c'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.c','$.c'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.c',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.c','$.c'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.c','$.c'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.c','$.c'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_INSERT(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_REPLACE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b','$.b'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_ARRAY_APPEND(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b','$.b'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,2),2,2)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,2),2,2)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b[0]',NULL), IF(@t:=CONCAT(@t,2),2,2)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,2),2,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,4),3,3)) AS v, @t AS t,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}',NULL), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,4),3,3)) AS v0, @t AS t0,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]',NULL), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,4),3,3)) AS v1, @t AS t1,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,NULL), IF(@t:=CONCAT(@t,3),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,4),3,3)) AS v2, @t AS t2,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b[0]',NULL), IF(@t:=CONCAT(@t,4),3,3)) AS v3, @t AS t3,
  @t:='' AS _, JSON_ARRAY_INSERT(IF(@t:=CONCAT(@t,0),'{"a":[1]}','{"a":[1]}'), IF(@t:=CONCAT(@t,1),'$.a[0]','$.a[0]'), IF(@t:=CONCAT(@t,2),2,2), IF(@t:=CONCAT(@t,3),'$.b[0]','$.b[0]'), IF(@t:=CONCAT(@t,4),3,NULL)) AS v4, @t AS t4;
SELECT @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}','{"a":1,"b":2}'), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v, @t AS t,
  @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a')) AS v0, @t AS t0,
  @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}','{"a":1,"b":2}'), IF(@t:=CONCAT(@t,1),'$.a',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}','{"a":1,"b":2}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v, @t AS t,
  @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}',NULL), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v0, @t AS t0,
  @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}','{"a":1,"b":2}'), IF(@t:=CONCAT(@t,1),'$.a',NULL), IF(@t:=CONCAT(@t,2),'$.b','$.b')) AS v1, @t AS t1,
  @t:='' AS _, JSON_REMOVE(IF(@t:=CONCAT(@t,0),'{"a":1,"b":2}','{"a":1,"b":2}'), IF(@t:=CONCAT(@t,1),'$.a','$.a'), IF(@t:=CONCAT(@t,2),'$.b',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v, @t AS t,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v0, @t AS t0,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}',NULL), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v1, @t AS t1,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'7','7')) AS v, @t AS t,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'7','7')) AS v0, @t AS t0,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}',NULL), IF(@t:=CONCAT(@t,2),'7','7')) AS v1, @t AS t1,
  @t:='' AS _, JSON_MERGE_PATCH(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'7',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, JSON_MERGE_PRESERVE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v, @t AS t,
  @t:='' AS _, JSON_MERGE_PRESERVE(IF(@t:=CONCAT(@t,0),'{"a":1}',NULL), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v0, @t AS t0,
  @t:='' AS _, JSON_MERGE_PRESERVE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}',NULL), IF(@t:=CONCAT(@t,2),'{"c":1}','{"c":1}')) AS v1, @t AS t1,
  @t:='' AS _, JSON_MERGE_PRESERVE(IF(@t:=CONCAT(@t,0),'{"a":1}','{"a":1}'), IF(@t:=CONCAT(@t,1),'{"b":1}','{"b":1}'), IF(@t:=CONCAT(@t,2),'{"c":1}',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, ADDDATE(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,1)) AS v, @t AS t,
  @t:='' AS _, ADDDATE(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),1,1)) AS v0, @t AS t0,
  @t:='' AS _, ADDDATE(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, DATE_ADD(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), INTERVAL IF(@t:=CONCAT(@t,1),1,1) DAY) AS v, @t AS t,
  @t:='' AS _, DATE_ADD(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), INTERVAL IF(@t:=CONCAT(@t,1),1,1) DAY) AS v0, @t AS t0,
  @t:='' AS _, DATE_ADD(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), INTERVAL IF(@t:=CONCAT(@t,1),1,NULL) DAY) AS v1, @t AS t1;
SELECT @t:='' AS _, ADDTIME(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'01:00:00','01:00:00')) AS v, @t AS t,
  @t:='' AS _, ADDTIME(IF(@t:=CONCAT(@t,0),'10:00:00',NULL), IF(@t:=CONCAT(@t,1),'01:00:00','01:00:00')) AS v0, @t AS t0,
  @t:='' AS _, ADDTIME(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'01:00:00',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, SUBTIME(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'01:00:00','01:00:00')) AS v, @t AS t,
  @t:='' AS _, SUBTIME(IF(@t:=CONCAT(@t,0),'10:00:00',NULL), IF(@t:=CONCAT(@t,1),'01:00:00','01:00:00')) AS v0, @t AS t0,
  @t:='' AS _, SUBTIME(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'01:00:00',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, CONVERT_TZ(IF(@t:=CONCAT(@t,0),'2024-01-01 10:00:00','2024-01-01 10:00:00'), IF(@t:=CONCAT(@t,1),'+00:00','+00:00'), IF(@t:=CONCAT(@t,2),'+01:00','+01:00')) AS v, @t AS t,
  @t:='' AS _, CONVERT_TZ(IF(@t:=CONCAT(@t,0),'2024-01-01 10:00:00',NULL), IF(@t:=CONCAT(@t,1),'+00:00','+00:00'), IF(@t:=CONCAT(@t,2),'+01:00','+01:00')) AS v0, @t AS t0,
  @t:='' AS _, CONVERT_TZ(IF(@t:=CONCAT(@t,0),'2024-01-01 10:00:00','2024-01-01 10:00:00'), IF(@t:=CONCAT(@t,1),'+00:00',NULL), IF(@t:=CONCAT(@t,2),'+01:00','+01:00')) AS v1, @t AS t1,
  @t:='' AS _, CONVERT_TZ(IF(@t:=CONCAT(@t,0),'2024-01-01 10:00:00','2024-01-01 10:00:00'), IF(@t:=CONCAT(@t,1),'+00:00','+00:00'), IF(@t:=CONCAT(@t,2),'+01:00',NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, WEEK(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,1)) AS v, @t AS t,
  @t:='' AS _, WEEK(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),1,1)) AS v0, @t AS t0,
  @t:='' AS _, WEEK(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, YEARWEEK(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,1)) AS v, @t AS t,
  @t:='' AS _, YEARWEEK(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),1,1)) AS v0, @t AS t0,
  @t:='' AS _, YEARWEEK(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),1,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, DATEDIFF(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'2024-01-02','2024-01-02')) AS v, @t AS t,
  @t:='' AS _, DATEDIFF(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),'2024-01-02','2024-01-02')) AS v0, @t AS t0,
  @t:='' AS _, DATEDIFF(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'2024-01-02',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TIMEDIFF(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'11:00:00','11:00:00')) AS v, @t AS t,
  @t:='' AS _, TIMEDIFF(IF(@t:=CONCAT(@t,0),'10:00:00',NULL), IF(@t:=CONCAT(@t,1),'11:00:00','11:00:00')) AS v0, @t AS t0,
  @t:='' AS _, TIMEDIFF(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'11:00:00',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, DATE_FORMAT(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'%Y','%Y')) AS v, @t AS t,
  @t:='' AS _, DATE_FORMAT(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),'%Y','%Y')) AS v0, @t AS t0,
  @t:='' AS _, DATE_FORMAT(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'%Y',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TIME_FORMAT(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'%H','%H')) AS v, @t AS t,
  @t:='' AS _, TIME_FORMAT(IF(@t:=CONCAT(@t,0),'10:00:00',NULL), IF(@t:=CONCAT(@t,1),'%H','%H')) AS v0, @t AS t0,
  @t:='' AS _, TIME_FORMAT(IF(@t:=CONCAT(@t,0),'10:00:00','10:00:00'), IF(@t:=CONCAT(@t,1),'%H',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, STR_TO_DATE(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'%Y-%m-%d','%Y-%m-%d')) AS v, @t AS t,
  @t:='' AS _, STR_TO_DATE(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),'%Y-%m-%d','%Y-%m-%d')) AS v0, @t AS t0,
  @t:='' AS _, STR_TO_DATE(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'%Y-%m-%d',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, FROM_UNIXTIME(IF(@t:=CONCAT(@t,0),86400,86400), IF(@t:=CONCAT(@t,1),'%Y','%Y')) AS v, @t AS t,
  @t:='' AS _, FROM_UNIXTIME(IF(@t:=CONCAT(@t,0),86400,NULL), IF(@t:=CONCAT(@t,1),'%Y','%Y')) AS v0, @t AS t0,
  @t:='' AS _, FROM_UNIXTIME(IF(@t:=CONCAT(@t,0),86400,86400), IF(@t:=CONCAT(@t,1),'%Y',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, MAKEDATE(IF(@t:=CONCAT(@t,0),2024,2024), IF(@t:=CONCAT(@t,1),10,10)) AS v, @t AS t,
  @t:='' AS _, MAKEDATE(IF(@t:=CONCAT(@t,0),2024,NULL), IF(@t:=CONCAT(@t,1),10,10)) AS v0, @t AS t0,
  @t:='' AS _, MAKEDATE(IF(@t:=CONCAT(@t,0),2024,2024), IF(@t:=CONCAT(@t,1),10,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, MAKETIME(IF(@t:=CONCAT(@t,0),10,10), IF(@t:=CONCAT(@t,1),11,11), IF(@t:=CONCAT(@t,2),12,12)) AS v, @t AS t,
  @t:='' AS _, MAKETIME(IF(@t:=CONCAT(@t,0),10,NULL), IF(@t:=CONCAT(@t,1),11,11), IF(@t:=CONCAT(@t,2),12,12)) AS v0, @t AS t0,
  @t:='' AS _, MAKETIME(IF(@t:=CONCAT(@t,0),10,10), IF(@t:=CONCAT(@t,1),11,NULL), IF(@t:=CONCAT(@t,2),12,12)) AS v1, @t AS t1,
  @t:='' AS _, MAKETIME(IF(@t:=CONCAT(@t,0),10,10), IF(@t:=CONCAT(@t,1),11,11), IF(@t:=CONCAT(@t,2),12,NULL)) AS v2, @t AS t2;
SELECT @t:='' AS _, PERIOD_ADD(IF(@t:=CONCAT(@t,0),202401,202401), IF(@t:=CONCAT(@t,1),1,1)) AS v, @t AS t,
  @t:='' AS _, PERIOD_ADD(IF(@t:=CONCAT(@t,0),202401,NULL), IF(@t:=CONCAT(@t,1),1,1)) AS v0, @t AS t0,
  @t:='' AS _, PERIOD_ADD(IF(@t:=CONCAT(@t,0),202401,202401), IF(@t:=CONCAT(@t,1),1,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, PERIOD_DIFF(IF(@t:=CONCAT(@t,0),202401,202401), IF(@t:=CONCAT(@t,1),202402,202402)) AS v, @t AS t,
  @t:='' AS _, PERIOD_DIFF(IF(@t:=CONCAT(@t,0),202401,NULL), IF(@t:=CONCAT(@t,1),202402,202402)) AS v0, @t AS t0,
  @t:='' AS _, PERIOD_DIFF(IF(@t:=CONCAT(@t,0),202401,202401), IF(@t:=CONCAT(@t,1),202402,NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TIMESTAMP(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'10:00:00','10:00:00')) AS v, @t AS t,
  @t:='' AS _, TIMESTAMP(IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),'10:00:00','10:00:00')) AS v0, @t AS t0,
  @t:='' AS _, TIMESTAMP(IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'10:00:00',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TIMESTAMPADD(DAY, IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),'2024-01-01','2024-01-01')) AS v, @t AS t,
  @t:='' AS _, TIMESTAMPADD(DAY, IF(@t:=CONCAT(@t,0),1,NULL), IF(@t:=CONCAT(@t,1),'2024-01-01','2024-01-01')) AS v0, @t AS t0,
  @t:='' AS _, TIMESTAMPADD(DAY, IF(@t:=CONCAT(@t,0),1,1), IF(@t:=CONCAT(@t,1),'2024-01-01',NULL)) AS v1, @t AS t1;
SELECT @t:='' AS _, TIMESTAMPDIFF(DAY, IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'2024-01-02','2024-01-02')) AS v, @t AS t,
  @t:='' AS _, TIMESTAMPDIFF(DAY, IF(@t:=CONCAT(@t,0),'2024-01-01',NULL), IF(@t:=CONCAT(@t,1),'2024-01-02','2024-01-02')) AS v0, @t AS t0,
  @t:='' AS _, TIMESTAMPDIFF(DAY, IF(@t:=CONCAT(@t,0),'2024-01-01','2024-01-01'), IF(@t:=CONCAT(@t,1),'2024-01-02',NULL)) AS v1, @t AS t1;
