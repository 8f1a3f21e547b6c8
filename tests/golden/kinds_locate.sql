-- LOCATE and INSTR look for weights: letters of several characters, characters of several weights, and
-- those without any.
set names utf8mb4 collate utf8mb4_0900_ai_ci;
set @a=_utf8mb4 x'CC81', @e=_utf8mb4 x'C3A9';
select locate('h','chch' collate utf8mb4_cs_0900_ai_ci), locate('ch','xch' collate utf8mb4_cs_0900_ai_ci), locate('c','ch' collate utf8mb4_cs_0900_ai_ci), locate('c','chc' collate utf8mb4_cs_0900_ai_ci), instr('ach' collate utf8mb4_cs_0900_ai_ci,'ac'), replace('chch' collate utf8mb4_cs_0900_ai_ci,'h','X');
select locate('h','chch' collate utf8mb4_cs_0900_as_cs), locate('ch','xcH' collate utf8mb4_cs_0900_as_cs), locate('c','xch' collate utf8mb4_cs_0900_as_cs), locate('hx','chx' collate utf8mb4_cs_0900_as_cs), locate('hx','hch' collate utf8mb4_cs_0900_ai_ci), locate('ch', 'chx' collate utf8mb4_cs_0900_ai_ci,2), locate('h', 'chx' collate utf8mb4_cs_0900_ai_ci,2), locate('cc','cch' collate utf8mb4_cs_0900_ai_ci);
select locate('a','aaa' collate utf8mb4_da_0900_ai_ci),locate('a','aa' collate utf8mb4_da_0900_as_cs), locate('å','xaa' collate utf8mb4_da_0900_ai_ci), locate('aa','xåaa' collate utf8mb4_da_0900_ai_ci), locate('z','aa' collate utf8mb4_da_0900_as_cs), locate('å','xaa' collate utf8mb4_danish_ci);
select locate('ch','xch' collate utf8mb4_czech_ci), locate('c','xch' collate utf8mb4_czech_ci), locate('h','xch' collate utf8mb4_czech_ci);
select locate('ss','xß'), locate('sss','xß'), locate('ß','s'), locate('ß','ss'),locate('s','ß'), locate('sx','ßx'),locate('ssx','ßx'),locate('xs','xß'), locate('xss','xß'), locate('ßa','ssa'), locate('ßß','ssss'), locate('ßß','sss');
select locate('ss','xß' collate utf8mb4_unicode_ci), locate('ss','xß' collate utf8mb4_0900_as_ci), locate('ss','xß' collate utf8mb4_0900_as_cs), locate('ß','xss' collate utf8mb4_0900_as_cs), locate('ss','xß' collate utf8mb4_general_ci), locate('s','xß' collate utf8mb4_general_ci),locate('s','xß' collate utf8mb4_german2_ci);
select locate(@e,'xe'), locate(@e, concat('xe',@a)), locate('e',@e), locate(concat('e',@a),'xe'), locate(concat('e',@a,'x'),'xexxxxx'), locate(concat('e',@a,'y'),'xexxxxx'), locate(@a,''), locate(@a,'x'), locate(@a,'x',2), locate(concat(@a,'x'),'yx'), locate('x',concat('y',@a,'x'));
select locate('e',_utf8mb4 x'7865CC81' collate utf8mb4_0900_as_cs),locate('ex',_utf8mb4 x'7865CC8178' collate utf8mb4_0900_as_cs),locate('E',_utf8mb4 x'7865CC81' collate utf8mb4_0900_as_cs),locate(@e,_utf8mb4 x'7865CC81' collate utf8mb4_0900_as_cs);
select locate('x ','yx' collate utf8mb4_unicode_ci), locate('xa','yx a' collate utf8mb4_unicode_ci), locate(' ','yx' collate utf8mb4_unicode_ci), locate('e','x\0e'), locate('xe','x\0e'), locate('x','\0x');
select locate('か','xガ' collate utf8mb4_ja_0900_as_cs), locate('カ','xか' collate utf8mb4_ja_0900_as_cs), locate('カ','xか' collate utf8mb4_ja_0900_as_cs_ks), locate('カー','xカア' collate utf8mb4_ja_0900_as_cs);
select instr('xa' collate utf8mb4_bin,'A'),instr('xa','A' collate utf8mb4_bin), locate('A' collate utf8mb4_bin,'xa'), locate('','x',2), locate('','x',3), locate('','');
select instr('a,b,c', b'11'), locate(b'1000001', 'xa');
